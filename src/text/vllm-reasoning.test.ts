// Answers with reasoning and calls, read by our parsers and by vLLM's (python/golden/make_tool_calls.py): the same reasoning, calls and
// content, or a difference that has a reason. docs/tool-syntaxes.md gives the reasons.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ReasoningParserName, ToolParserName } from '#domain/answer-parsers';
import type { ToolDefinition } from '#domain/chat';
import { readAnswer } from '../../test/support/read-answer.ts';
import { reasoningSyntaxNamed, thinkingInPrompt } from './reasoning-parser.ts';

/** Arguments as values. */
interface Read {
  readonly content: string;
  readonly calls: readonly (readonly [name: string, value: unknown])[];
  readonly reasoning: string;
}

type Case = readonly [
  reasoning: ReasoningParserName,
  tools: ToolParserName,
  prompt: string,
  answer: string,
  whole: Read,
  streamed: Read,
];

const fixture = JSON.parse(
  readFileSync(new URL('../../test/support/golden/fixtures/tool-calls.json', import.meta.url), 'utf8'),
) as { readonly tools: readonly ToolDefinition[]; readonly reasoned: readonly Case[] };

function read([reasoning, tools, prompt]: Case, pieces: readonly string[], isStopped: boolean): Read {
  const state = thinkingInPrompt(prompt, reasoningSyntaxNamed(reasoning)!);
  const found = readAnswer({ reasoning, tools, state, definitions: fixture.tools }, pieces, isStopped);
  return { ...found, calls: found.calls.map(([name, text]) => [name, JSON.parse(text) as unknown] as const) };
}

/** White space around the parts is no difference: vLLM's own parsers keep or drop it. */
const trimmed = ({ content, calls, reasoning }: Read): string =>
  JSON.stringify([content.trim(), calls, reasoning.trim()]);

type Reason = readonly [reason: string, holds: (one: Case, begin: string, end: string) => boolean];

const count = (text: string, part: string): number => text.split(part).length - 1;

/** The first that holds. The words are those of docs/tool-syntaxes.md. */
const REASONS: readonly Reason[] = [
  ['Calls in reasoning', ([, , , answer]) => /I write|and more/.test(answer)],
  [
    'Calls that end the reasoning',
    ([name, , , answer], _, end) =>
      /^(deepseek_r1|granite)$/.test(name) && count(answer, '"f"') === 1 && !answer.includes(`${end}\n\n`),
  ],
  ['The end of the prompt', ([name, , prompt]) => prompt !== '' && /^(mistral|granite)$/.test(name)],
  [
    'An end tag twice',
    ([, , , answer], _, end) => answer.includes(`${end}${end}`) || answer.includes(`${end}\n${end}`),
  ],
  ['A late tag', ([, , , answer], _, end) => answer.endsWith(end)],
  ['Reasoning again', ([, , , answer], begin, end) => count(answer, begin) > 1 || count(answer, end) > 1],
  ['An end tag alone', ([, , , answer], _, end) => answer.startsWith(end)],
  ['No tag at the beginning', ([, , , answer], begin) => !answer.startsWith(begin)],
  ['Reasoning that was cut off', ([, , , answer], _, end) => !answer.includes(end)],
];

const found = fixture.reasoned.map((one) => {
  const [name, , , , whole, streamed] = one;
  const { start, end } = reasoningSyntaxNamed(name)!;
  const ours = read(one, [one[3]], true);
  const equals = [whole, streamed].some((each) => trimmed(each) === trimmed(ours));
  const reason = equals ? null : (REASONS.find(([, holds]) => holds(one, start, end))?.[0] ?? 'none');
  return { one, ours, reason };
});

test('reasoning and calls are read as vLLM reads them, or differ for a reason', () => {
  expect(found.filter(({ reason }) => reason === 'none')).toEqual([]);
});

test('an answer that arrives character by character is read as the whole one, cut off or not', () => {
  for (const { one, ours } of found) {
    const pieces = [...one[3]];
    expect(read(one, pieces, true)).toEqual(ours);
    expect(read(one, pieces, false)).toEqual(read(one, [one[3]], false));
  }
});

test('of every difference, the guide gives the reason', () => {
  const guide = readFileSync(new URL('../../docs/tool-syntaxes.md', import.meta.url), 'utf8').replace(/\s+/g, ' ');
  const reasons = new Set(found.flatMap(({ reason }) => reason ?? []));
  expect([...reasons].sort()).toEqual(REASONS.map(([reason]) => reason).sort());
  for (const reason of reasons) expect(guide).toContain(`**${reason}**`);
  const same = found.filter(({ reason }) => reason === null).length;
  expect(guide).toContain(`${same} of ${found.length} answers`);
});
