// Tokens of TRL's rows (prompts with completions, pairs, plain text) and which are trained, as TRL's trainers prepare them, for 47 chat
// templates (python/golden/make_trl_rows.py).
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readPreferencePair } from '#rows/dpo';
import { readSftLine } from '#rows/sft';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { tokenizePair } from '#training/dpo-rows';
import { tokenizeSftRow, type RowSequences } from '#training/sft-rows';
import { encoderOf, examples } from '../../../../test/support/golden/examples.ts';
import { readFixture } from '../../../../test/support/golden/fixture.ts';

const { rows, cases } = readFixture<{
  readonly rows: readonly string[];
  /** For each row a digest of its answers; "-": no reference. */
  readonly cases: readonly (readonly [template: string, tokenizer: string, digests: string])[];
}>('examples/trl-rows.json');

/** Their answers of several turns change earlier turns: such pairs are skipped. */
const REWRITES = new Set(['gptoss', 'glm4moe-marked']);

type Sequences = RowSequences['sequences'];

/** The tokens of an answer and which are trained; of one with several messages, all that is trained, in ascending order. */
function answerOf(messages: number, sequences: Sequences): unknown {
  const [{ tokens, trained }] = sequences as [Sequences[number]];
  return messages > 1
    ? sequences.flatMap((each) => [...each.tokens].filter((_, at) => each.trained[at] === 1)).toSorted((a, b) => a - b)
    : [[...tokens], [...trained]];
}

/** A text: why there are none. */
async function answersOf(line: string, encoder: ConversationEncoder): Promise<unknown> {
  if ('chosen' in (JSON.parse(line) as object)) {
    const read = readPreferencePair(line);
    if ('problem' in read) return read.problem;
    const { sequences, problem } = await tokenizePair(read.row, encoder);
    const { prompt, chosen, rejected } = read.row;
    const lengths = typeof prompt === 'string' ? [1, 1] : [chosen.length, rejected.length];
    return problem ?? lengths.map((length, at) => answerOf(length, [sequences[at]!]));
  }
  const read = readSftLine(line);
  if ('problem' in read) return read.problem;
  const { sequences, problem } = await tokenizeSftRow(read.row, encoder, 'all');
  if (problem !== null || 'completion' in read.row) return problem ?? [answerOf(1, sequences)];
  const { messages, untrained = [] } = read.row;
  const turns = messages.filter(({ role }) => role === 'assistant').length - untrained.length;
  return [answerOf(turns, sequences)];
}

const digest = (answers: unknown): string =>
  createHash('sha256').update(JSON.stringify(answers)).digest('hex').slice(0, 12);

test.each(cases)('%s with the tokenizer %s', async (template, tokenizer, digests) => {
  const { encoder } = encoderOf(
    examples.cases.find((each) => each.template === template && each.tokenizer === tokenizer)!,
  );
  const wrong: { row: number; found: unknown }[] = [];
  for (const [row, wanted] of digests.split(' ').entries()) {
    if (wanted === '-') continue;
    const found = await answersOf(rows[row]!, encoder);
    if (found === 'rewritten_history' && REWRITES.has(template)) continue;
    if (digest(found) !== wanted) wrong.push({ row, found });
  }
  expect(wrong).toEqual([]);
});
