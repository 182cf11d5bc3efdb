// Which pages the documentation has: their titles now, each page when it is opened.
import SOURCES from 'virtual:documentation';
import type { Tree } from './parse-page.ts';

export interface DocumentationPage {
  readonly name: string;
  readonly title: string;
  readonly isGuide: boolean;
  readonly read: () => Promise<{ readonly default: readonly Tree[] }>;
}

export const DOCUMENTATION_PATH = '/documentation';
export const DOCUMENTATION_PAGE = '/documentation/{page}';

/** By title. */
export const PAGES: readonly DocumentationPage[] = SOURCES.toSorted((a, b) => a.title.localeCompare(b.title, 'en'));

/** Null: there is no such page. */
export const readPage = async (name: string): Promise<readonly Tree[] | null> =>
  (await PAGES.find((page) => page.name === name)?.read())?.default ?? null;
