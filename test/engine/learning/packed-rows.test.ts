import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { weightedCrossEntropy } from '#engine/onnx/learning/full-training';
import type { TrainingRow } from '#engine/training-engine';
import { emptyFields, sharedPromptRow, toRow } from '../../support/learning/packed-row.ts';
import { openGraph, TINY_LORA } from './run-graph.ts';
import { randomTokens, tinyConfig, TINY_FAMILIES } from '../../support/learning/tiny-decoders.ts';

const random = createRandom(21);
const prompt = randomTokens(6, random);
const completions = [randomTokens(5, random), randomTokens(7, random), randomTokens(3, random)];
const WEIGHT = 0.1;

const alone = (completion: readonly number[]): TrainingRow => sideBySide([completion]);

/** Every sequence complete with its prompt, one after another, without attention between them. */
function sideBySide(all: readonly (readonly number[])[]): TrainingRow {
  const fields = emptyFields();
  all.forEach((completion, sequence) => {
    [...prompt, ...completion].forEach((token, i) => {
      if (i >= prompt.length) {
        fields.predictFrom.push(fields.tokens.length - 1);
        fields.targets.push(token);
        fields.sequenceIds.push(sequence);
      }
      fields.tokens.push(token);
      fields.positions.push(i);
      fields.segments.push(sequence);
    });
    fields.parents.push(-1);
  });
  return toRow(fields, WEIGHT);
}

test.each(TINY_FAMILIES)('%s: sequences packed into one row train as if each were alone', async (family) => {
  const graph = await openGraph(tinyConfig(family), TINY_LORA, weightedCrossEntropy);
  const runs = await Promise.all(completions.map((completion) => graph.run([alone(completion)])));
  const loss = runs.reduce((sum, run) => sum + run.loss, 0);
  const packings = {
    'the prompt shared': [sharedPromptRow(prompt, completions, WEIGHT)],
    'side by side': [sideBySide(completions)],
    'a padded batch': completions.map(alone),
  };
  for (const [packing, rows] of Object.entries(packings)) {
    const packed = await graph.run(rows);
    expect(Math.abs(packed.loss - loss), packing).toBeLessThan(2e-6);
    for (const [name, gradient] of packed.gradients) {
      gradient.forEach((value, i) => {
        const expected = runs.reduce((sum, run) => sum + run.gradients.get(name)![i]!, 0);
        expect(Math.abs(value - expected), `${packing}, ${name}[${i}]`).toBeLessThan(1e-6);
      });
    }
  }
  await graph.close();
});
