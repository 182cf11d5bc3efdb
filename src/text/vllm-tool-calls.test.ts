// Answers in each syntax, read by our parsers and by vLLM's (python/golden/make_tool_calls.py): the same calls and content, or a difference
// that has a reason. docs/tool-syntaxes.md gives the reasons.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ToolDefinition } from '#domain/chat';
import { readAnswer } from '../../test/support/read-answer.ts';

/** Arguments as values; null: they are no JSON. */
interface Read {
  readonly content: string;
  readonly calls: readonly (readonly [name: string, value: unknown])[];
  /** Of gpt-oss only, whose messages have channels. */
  readonly reasoning?: string;
}

type Case = readonly [syntax: string, answer: string, whole: Read | string, streamed: Read | string];

const fixture = JSON.parse(
  readFileSync(new URL('../../test/support/golden/fixtures/tool-calls.json', import.meta.url), 'utf8'),
) as { readonly tools: readonly ToolDefinition[]; readonly cases: readonly Case[] };

function valueOf(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return null;
  }
}

function read(name: string, pieces: readonly string[], isStopped: boolean): Read {
  const parsers = { reasoning: name === 'openai' ? 'openai_gptoss' : 'none', tools: name as 'hermes' } as const;
  const found = readAnswer({ ...parsers, state: 'unsaid', definitions: fixture.tools }, pieces, isStopped);
  const { reasoning, content } = found;
  const calls = found.calls.map(([called, text]) => [called, valueOf(text)] as const);
  return name === 'openai' ? { content, calls, reasoning } : { content, calls };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** White space around content is no difference: vLLM's own parsers keep or drop it. */
const trimmed = (one: Read | string): Read | string =>
  typeof one === 'string' ? one : { ...one, content: one.content.trim() };

const isCut = (answer: string, ours: Read): boolean => ours.calls.length === 0 || /\{("count": |count:)1$/.test(answer);

type Reason = readonly [reason: string, holds: (syntax: string, answer: string, ours: Read, theirs: Read) => boolean];

/** The first that holds. The words are those of docs/tool-syntaxes.md. */
const REASONS: readonly Reason[] = [
  [
    'Older Mistral models',
    (syntax, answer) => syntax === 'mistral' && /^\s*(Let me look\.\n)?\[TOOL_CALLS\][[{]/.test(answer),
  ],
  ['The id of a call', (_, answer) => answer.includes('[CALL_ID]')],
  [
    'A marker inside a string',
    (_, answer) => /"\[TOOL_CALLS\] \} \]"|\["[^\n]*<\/parameter>|<\|"\|><tool_call\|>/.test(answer),
  ],
  [
    'Said twice',
    (_, answer) => /"name": "now", "name"|"(arguments|parameters)": \{[^}]*\}, "(arguments|parameters)"/.test(answer),
  ],
  ['Another key', (_, answer, ours) => ours.calls.length === 0 && /"(input|args|function)": ["{]/.test(answer)],
  [
    'No name',
    (_, answer, ours) =>
      ours.calls.length === 0 &&
      /"name": (""|null|5),|\[TOOL_CALLS\]\[ARGS\]|get weather|call:\{|<(function|parameter)(>| name|=>)/.test(answer),
  ],
  ['Arguments in a string', (_, answer) => /": "\{\\"city/.test(answer)],
  [
    'A bracket too many',
    (_, answer, ours) => ours.content === '}' || (ours.calls.length === 0 && /\}\}\}\]|\}\}<\|call/.test(answer)),
  ],
  [
    'Headers',
    (syntax, answer) =>
      syntax === 'openai' &&
      /<\|(end|call)\|><\|channel|analysis so|to=\S+ to=|comment<|channel\|><\|message/.test(answer),
  ],
  ['White space in tags', (_, answer) => answer.includes('<function= f >')],
  [
    'Repeated tags',
    (_, answer) => /<\/function>\n<\/function>|^<tool_call>\n<tool_call>|\[TOOL_CALLS\]\[TOOL_CALLS\]/.test(answer),
  ],
  ["Python's names", (_, answer) => /\\N\{|1e400|class=/.test(answer)],
  ['Phi-4-mini', (syntax) => syntax === 'phi4_mini_json'],
  ['FunctionGemma', (syntax) => syntax === 'functiongemma'],
  [
    'Text after a call',
    (_, answer, ours, theirs) =>
      / and (<function|\[TOOL)|\nDone\.$/.test(answer) &&
      (isSame(ours.calls, theirs.calls) || theirs.calls.length === 0),
  ],
  ['Text before a call', (syntax, answer) => syntax === 'llama3_json' && answer.includes('Let me look.\n')],
  ['White space around Python', (syntax, answer) => /pythonic/.test(syntax) && /^\s|\s$|\[\n/.test(answer)],
  ['No arguments', (_, answer) => answer.includes('{"name": "now"}') || /: (""|null)\}/.test(answer)],
  ['Arguments as text', (_, answer) => answer.includes(': "x"}')],
  ['Repeated and formatted', (_, answer) => /f'x'|count=1, count=2/.test(answer)],
  ['Python in values', (_, answer) => /<function=[^]*(\nNone\n|\{'|\(1, 2\)|1,\})|note:none/.test(answer)],
  ['Values without a schema', (syntax, answer) => syntax === 'gemma4' && /other:5|x:1\}|\[1,\[2,3\]\]/.test(answer)],
  ['Markers without a call', (_, _answer, ours, theirs) => ours.calls.length === 0 && theirs.calls.length === 0],
  [
    'No call in the syntax',
    (_, answer, ours) =>
      ours.calls.length === 0 &&
      /call:f\{count:?\}|\|>f\{|\noops|not JSON|\[```|call:f(<|\{,\})|\|>b\}|\{"city":"/.test(answer),
  ],
  [
    'No JSON',
    (_, answer, ours) =>
      ours.calls.length === 0 &&
      /\{'|: Bonn|"Bonn",\}|True|"Bonn"\}\]|"Bonn"<|x = 1|NaN|a\tb|\\x41|01|\/\/ call|\[ARGS\]("x"|\[1|null)/.test(
        answer,
      ),
  ],
  ['Broken off', (_, answer, ours) => isCut(answer, ours)],
  ['A tag or bracket is missing', (_, answer) => /[})]$/.test(answer)],
  ['Broken off', (_, answer) => answer.endsWith('\nBo')],
];

const found = fixture.cases.map(([syntax, answer, whole, streamed]) => {
  const ours = read(syntax, [answer], true);
  const equals = [whole, streamed].some((each) => isSame(trimmed(ours), trimmed(each)));
  const theirs = typeof whole === 'string' ? { content: '', calls: [] } : whole;
  const reason = equals ? null : (REASONS.find(([, holds]) => holds(syntax, answer, ours, theirs))?.[0] ?? 'none');
  return { syntax, answer, ours, theirs: whole, streamed, reason };
});

describe.each([...new Set(fixture.cases.map(([syntax]) => syntax))])('%s', (syntax) => {
  const cases = found.filter((each) => each.syntax === syntax);

  test('answers are read as vLLM reads them, or differ for a reason', () => {
    expect(cases.filter(({ reason }) => reason === 'none')).toEqual([]);
  });

  test('an answer that arrives character by character is read as the whole one, cut off or not', () => {
    for (const { answer, ours } of cases) {
      expect(read(syntax, [...answer], true)).toEqual(ours);
      expect(read(syntax, [...answer], false)).toEqual(read(syntax, [answer], false));
    }
  });
});

test('of every difference, the guide gives the reason', () => {
  const guide = readFileSync(new URL('../../docs/tool-syntaxes.md', import.meta.url), 'utf8').replace(/\s+/g, ' ');
  const reasons = new Set(found.flatMap(({ reason }) => reason ?? []));
  expect([...reasons].sort()).toEqual([...new Set(REASONS.map(([reason]) => reason))].sort());
  for (const reason of reasons) expect(guide).toContain(`**${reason}**`);
  const same = found.filter(({ reason }) => reason === null).length;
  expect(guide).toContain(`${same} of ${found.length} answers`);
});
