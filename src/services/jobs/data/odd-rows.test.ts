// Which tokens of odd conversations are trained, as Transformers' masks say, for 46 chat templates (python/golden/make_masks.py).
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readSftLine } from '#rows/sft';
import { tokenizeSftRow } from '#training/sft-rows';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { encoderOf, examples } from '../../../../test/support/golden/examples.ts';
import { readFixture } from '../../../../test/support/golden/fixture.ts';

const { rows, cases } = readFixture<{
  readonly rows: readonly string[];
  /** For each row a digest of its trained tokens; "-": no reference says what is trained. */
  readonly cases: readonly (readonly [template: string, tokenizer: string, digests: string])[];
}>('examples/masks.json');

async function trainedTokens(line: string, encoder: ConversationEncoder): Promise<number[]> {
  const read = readSftLine(line);
  if ('problem' in read) throw new Error(read.problem);
  const { sequences } = await tokenizeSftRow(read.row, encoder, 'all');
  return sequences.flatMap(({ tokens, trained }) => [...tokens].filter((_, at) => trained[at] === 1));
}

const digest = (ids: readonly number[]): string =>
  createHash('sha256')
    .update(ids.toSorted((a, b) => a - b).join(','))
    .digest('hex')
    .slice(0, 12);

test.each(cases)('%s with the tokenizer %s', async (template, tokenizer, digests) => {
  const { encoder } = encoderOf(
    examples.cases.find((each) => each.template === template && each.tokenizer === tokenizer)!,
  );
  const compared = digests.split(' ').flatMap((wanted, row) => (wanted === '-' ? [] : [{ row, wanted }]));
  const wrong: { row: number; found: readonly number[] }[] = [];
  for (const { row, wanted } of compared) {
    const found = await trainedTokens(rows[row]!, encoder);
    if (digest(found) !== wanted) wrong.push({ row, found });
  }
  expect(wrong).toEqual([]);
});
