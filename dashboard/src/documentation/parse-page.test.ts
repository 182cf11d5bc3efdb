import { expect, test } from 'vitest';
import { readDocumentation } from '../../documentation-plugin.ts';
import { parsePage, placeIn, type Branch, type Tree } from './parse-page.ts';

const parse = (text: string) => parsePage('here', text, (name) => name === 'keys').tree;

const shown = (tree: Tree): string =>
  typeof tree === 'string'
    ? tree
    : `<${tree.tag}${tree.id ? ` id=${tree.id}` : ''}${tree.href ? ` href=${tree.href}` : ''}>${tree.inside.map(shown).join('')}</${tree.tag}>`;

test.each([
  ['# A `b`', '<h1 id=a-b>A <code>b</code></h1>'],
  ['[k](../keys.md#limits)', '<p><a href=#/documentation/keys?at=limits>k</a></p>'],
  ['[here](#a-b)', '<p><a href=#/documentation/here?at=a-b>here</a></p>'],
  ['[it](https://x.y)', '<p><a href=https://x.y>it</a></p>'],
  ['[a file](../test/a.ts), [other](other.md)', '<p>a file, other</p>'],
  ['- a\n- b\n\n<!-- not run -->\n\n```sh\nnpm x\n```', '<ul><li>a</li><li>b</li></ul><pre><code>npm x</code></pre>'],
  ['| a |\n| - |\n| b |', '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>'],
  ['|  |\n| - |\n| b |', '<table><tbody><tr><td>b</td></tr></tbody></table>'],
])('%s', (text, html) => expect(parse(text).map(shown).join('')).toBe(html));

const branches = (tree: Tree): readonly Branch[] =>
  typeof tree === 'string' ? [] : [tree, ...tree.inside.flatMap(branches)];

test('every link inside the documentation leads to a page, and to a heading that it has', () => {
  const pages = readDocumentation();
  const all = pages.flatMap(({ name, tree }) => tree.flatMap(branches).map((branch) => ({ name, branch })));
  const places = new Set([
    ...pages.map(({ name }) => placeIn(name)),
    ...all.flatMap(({ name, branch: { id } }) => (id === undefined ? [] : [placeIn(name, id)])),
  ]);
  const inside = all.flatMap(({ name, branch: { href } }) => (href?.startsWith('#') ? [{ name, href }] : []));
  expect(inside.length).toBeGreaterThan(100);
  expect(inside.filter(({ href }) => !places.has(href))).toEqual([]);
  expect(new Set(pages.map(({ name }) => name)).size).toBe(pages.length); // the address has no folder
});
