// The arguments of calls against Python's own reading of them (python/golden/make_literals.py).
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PYTHONIC } from '../tool-parser.ts';
import { readPythonArguments } from './python-literal.ts';

const file = new URL('../../../test/support/golden/fixtures/python-literals.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: [text: string, json: string | null][] };

/** What a name of a character means is not known here. */
const UNKNOWN = new Set(["a='\\N{BULLET}'"]);

test('every literal is read as Python reads it, or refused as Python refuses it', () => {
  const differing = cases.filter(([text, json]) => {
    if (UNKNOWN.has(text)) return false;
    const read = readPythonArguments(`${text})`);
    const ours = read?.isComplete === true ? (JSON.parse(read.json) as unknown) : null;
    return JSON.stringify(ours) !== JSON.stringify(json === null ? null : JSON.parse(json));
  });
  expect(differing).toEqual([]);
});

test('as a call, what Python refuses is content as a whole, however it is split', () => {
  const wrong: unknown[] = [];
  for (const [text, json] of cases) {
    if (UNKNOWN.has(text)) continue;
    const answer = `[f(${text})]`;
    for (const pieces of [[answer], answer.split('')]) {
      const parser = PYTHONIC.createParser([]);
      const deltas = [...pieces.flatMap((piece) => parser.push(piece)), ...parser.flush(true)];
      const written = deltas.map((delta) => (delta.kind === 'call' ? '' : delta.text)).join('');
      const calls = deltas.filter(({ kind }) => kind === 'call').length;
      const isRight =
        json === null
          ? calls === 0 && written === answer
          : calls === 1 && JSON.stringify(JSON.parse(written)) === JSON.stringify(JSON.parse(json));
      if (!isRight) wrong.push([answer, json, deltas]);
    }
  }
  expect(wrong).toEqual([]);
});

test('what was cut off is the beginning of JSON', () => {
  for (const [text, json] of [
    ["a='x", '{"a": "x'],
    ["a=1, b=['x', (1, 2", '{"a": 1, "b": ["x", [1, '],
    ['a', '{'],
    ['a={', '{"a": {'],
  ] as const)
    expect(readPythonArguments(text)).toEqual({ json, isComplete: false });
});
