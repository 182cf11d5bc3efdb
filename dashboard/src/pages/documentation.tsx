// The documentation that belongs to this server: a list of its pages, and one page. Links inside it stay in the dashboard.
import { h, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLoad } from '../api/use-load.ts';
import { DOCUMENTATION_PAGE, DOCUMENTATION_PATH, PAGES, readPage } from '../documentation/pages.ts';
import type { Tree } from '../documentation/parse-page.ts';
import { hrefTo, type PageProps } from '../router.ts';
import { PageHead, Section } from '../ui/page-head.tsx';
import { useTabTitle } from '../ui/tab-title.ts';
import { Empty, Loaded } from '../ui/states.tsx';
import '../documentation/documentation.css';

export function DocumentationPage() {
  const list = (title: string, isGuide: boolean) => (
    <Section title={title}>
      <ul class="documentation-list">
        {PAGES.filter((page) => page.isGuide === isGuide).map((page) => (
          <li key={page.name}>
            <a href={hrefTo(DOCUMENTATION_PAGE, { page: page.name })}>{page.title}</a>
          </li>
        ))}
      </ul>
    </Section>
  );
  return (
    <>
      <PageHead title="Documentation" about="Of this version of the server." actions={<ApiLink />} />
      {list('Guides', true)}
      {list('Reference', false)}
    </>
  );
}

const ApiLink = () => (
  <a class="button" href="docs">
    API reference
  </a>
);

export function DocumentPage({ params, query }: PageProps) {
  const page = params['page']!;
  const at = query.get('at');
  const found = useLoad(() => readPage(page), [page]);
  useEffect(() => {
    if (found.state === 'ready' && at !== null) document.getElementById(at)?.scrollIntoView();
  }, [found.state, at]);
  return (
    <div ref={useTabTitle<HTMLDivElement>()}>
      <div class="crumbs">
        <a href={hrefTo(DOCUMENTATION_PATH)}>Documentation</a>
      </div>
      <Loaded of={found}>
        {(tree) =>
          tree === null ? (
            <>
              <PageHead title="Documentation" />
              <Empty title="There is no such page" />
            </>
          ) : (
            <article class="document">{drawerOf()(tree)}</article>
          )
        }
      </Loaded>
    </div>
  );
}

/** Draws the parts of one page; its tables are numbered, for screen readers. */
function drawerOf() {
  let tables = 0;
  const drawn = (trees: readonly Tree[]): ComponentChildren => trees.map(draw);
  function draw(tree: Tree): ComponentChildren {
    if (typeof tree === 'string') return tree;
    const { tag, inside, ...properties } = tree;
    if (tag === 'table')
      return (
        <div class="table-frame scrolls-sideways" role="region" aria-label={`Table ${++tables}`} tabIndex={0}>
          <table>{drawn(inside)}</table>
        </div>
      );
    if (tag === 'pre')
      return (
        <pre class="scrolls-sideways" tabIndex={0}>
          {drawn(inside)}
        </pre>
      );
    const isElsewhere = tag === 'a' && !properties.href!.startsWith('#');
    return h(tag, { ...properties, ...(isElsewhere ? { target: '_blank', rel: 'noreferrer' } : {}) }, drawn(inside));
  }
  return drawn;
}
