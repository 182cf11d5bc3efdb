// A reader who meets a word of training in the README or a guide can look it up there: where a page first uses it in its text, the word is
// a link. Words with a plain meaning beside their own (model, job, step, token) are in the glossary, but need no link.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

const PLAIN = ['artifact', 'choice', 'entity', 'group', 'job', 'model', 'policy', 'ratio', 'step', 'token', 'worker'];
const explained = [...read('docs/glossary.md').matchAll(/^## (.+)$/gm)].map(([, term]) => term!);
const terms = explained.filter((term) => !PLAIN.includes(term));

const guides = readdirSync(join(ROOT, 'docs/guides')).map((file) => `docs/guides/${file}`);
const pages = ['README.md', ...guides];

interface Words {
  readonly text: string;
  readonly isLinked: boolean;
}

/** The text of a page in order: no headings, tables or code, which cannot be read without the text anyway. */
function wordsOf(node: Nodes, isLinked = false): Words[] {
  if (node.type === 'text') return [{ text: node.value, isLinked }];
  if (['heading', 'table', 'html'].includes(node.type) || !('children' in node)) return [];
  return node.children.flatMap((child) => wordsOf(child, isLinked || node.type === 'link'));
}

/** Abbreviations as they are written, other words also at the beginning of a sentence and in the plural. */
const formsOf = (term: string): RegExp =>
  new RegExp(`\\b${term.replace(/y$/, '(?:y|ies)').replaceAll(' ', '\\s+')}s?\\b`, /[A-Z]/.test(term) ? '' : 'i');

function unexplained(page: string): string[] {
  const words = wordsOf(fromMarkdown(page, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
  return terms.filter((term) => words.find(({ text }) => formsOf(term).test(text))?.isLinked === false);
}

test('the glossary has the words', () => {
  expect(PLAIN.filter((term) => !explained.includes(term))).toEqual([]);
  expect(terms.length).toBeGreaterThan(15);
});

test.each(pages)('%s links each word where it first uses it', (page) => {
  expect(unexplained(read(page))).toEqual([]);
});

test('a word whose first use is no link is found', () => {
  expect(unexplained('Rewards come first. A [reward](x) and `LoRA`.\n\n| SFT |\n| - |\n')).toEqual(['reward']);
  expect(unexplained('[Rewards](x) come first. A reward.')).toEqual([]);
});
