// Makes the pages of docs modules of the dashboard: `virtual:documentation` has their titles, and each page is a module of its own, fetched
// when it is opened. Pages for people who work on this repository are left out.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Plugin } from 'vite';
import { parsePage, type ParsedPage } from './src/documentation/parse-page.ts';

const DOCS = join(import.meta.dirname, '../docs');
const NOT_FOR_USERS = new Set(['testing', 'lab-log', 'route-bounds']);
const LIST = 'virtual:documentation';

interface SourcePage extends ParsedPage {
  readonly name: string;
  readonly path: string;
  readonly isGuide: boolean;
}

export function readDocumentation(): SourcePage[] {
  const files = ['', 'guides'].flatMap((folder) =>
    readdirSync(join(DOCS, folder))
      .filter((file) => file.endsWith('.md') && !NOT_FOR_USERS.has(basename(file, '.md')))
      .map((file) => ({ name: basename(file, '.md'), path: join(DOCS, folder, file), isGuide: folder !== '' })),
  );
  const names = new Set(files.map(({ name }) => name));
  return files.map((file) => ({
    ...file,
    ...parsePage(file.name, readFileSync(file.path, 'utf8'), (name) => names.has(name)),
  }));
}

/** Read once: what changes while the dashboard is served needs a new start. */
let read: readonly SourcePage[] | null = null;

export const documentation: Plugin = {
  name: 'documentation',
  resolveId: (id) => (id === LIST ? `\0${LIST}` : null),
  load(id) {
    if (id === `\0${LIST}`) {
      const pages = (read ??= readDocumentation()).map(
        ({ name, title, path, isGuide }) =>
          `{ ...${JSON.stringify({ name, title, isGuide })}, read: () => import(${JSON.stringify(path)}) }`,
      );
      return `export default [${pages.join()}];`;
    }
    const page = id.endsWith('.md') ? (read ??= readDocumentation()).find(({ path }) => path === id) : undefined;
    return page ? `export default ${JSON.stringify(page.tree)};` : null;
  },
};
