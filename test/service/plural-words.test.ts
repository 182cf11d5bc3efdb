// Numbers in messages agree with their nouns: `1 row`, `2 rows`. A number that is not a limit stands before a plural only where 1 is another case.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NOUNS =
  'steps|rows|lines|jobs|prompts|groups|turns|checkpoints|adapters|reconnects|batches|warnings|answers|checks|tools|trajectories|metrics|runs|messages|files|exceptions|calls|episodes|models|keys';
/** In a text, or between the tags of a page. */
const COUNT = new RegExp(
  String.raw`\{(?<count>[^{}=:]*)\} (?:(?!for\b|supports\b|that\b|of\b)[a-z-]+ )?(?:${NOUNS})\b(?!=)`,
  'g',
);

/** A constant, or a setting that is a maximum: never 1 by chance. Names and commands are no numbers. */
const IS_LIMIT = /\b[A-Z][A-Z_]+\b|[mM]ax\b|join\(|^command$|lastUrl|toUpperCase|^id$|^name$/;
/** The line, or the one before it, has a case of its own for 1. */
const HAS_SINGULAR = /=== 1 \?/;

function faultsOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) =>
    HAS_SINGULAR.test(`${lines[at - 1] ?? ''}${line}`)
      ? []
      : [...line.matchAll(COUNT)].filter(({ groups }) => !IS_LIMIT.test(groups!['count']!)).map(([found]) => found),
  );
}

test('no message of the program counts one thing in the plural', () => {
  const files = ['src', 'dashboard/src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|openapi\.ts|answer-examples/.test(file))
      .map((file) => join(folder, file)),
  );
  const found = files.flatMap((file) =>
    faultsOf(readFileSync(join(ROOT, file), 'utf8')).map((fault) => `${file}: ${fault}`),
  );
  expect(found).toEqual([]);
});

test.each([
  ['`${count} gradient steps`', 1],
  ["`${counted(count, 'gradient step')}`", 0],
  ['<summary>{folded} earlier messages</summary>', 1],
  ['<Turns of={folded} turns={turns} />', 0],
  ['`at most ${ROWS_MAX} rows`', 0],
  ["bad === 1 ? '1 line is' : `${bad} lines are`", 0],
])('%s', (text, faults) => expect(faultsOf(text)).toHaveLength(faults));
