// The head of a page: its place, its title and its actions. It names the browser's tab too.
import type { ComponentChildren } from 'preact';
import { useTabTitle } from './tab-title.ts';

interface PageHeadProps {
  readonly title: ComponentChildren;
  /** Links to the pages above, outermost first. */
  readonly crumbs?: ComponentChildren;
  readonly about?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

export function PageHead({ title, crumbs, about, actions }: PageHeadProps) {
  return (
    <div class="page-head" ref={useTabTitle<HTMLDivElement>()}>
      <div>
        {crumbs && <div class="crumbs">{crumbs}</div>}
        <h1>{title}</h1>
        {about && <div class="about">{about}</div>}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  /** Shown next to the title: a count, a control. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export const Section = ({ title, aside, children }: SectionProps) => (
  <section class="section">
    <div class="section-head">
      <h2>{title}</h2>
      {aside && <div class="section-aside">{aside}</div>}
    </div>
    {children}
  </section>
);
