import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { weightedCrossEntropy } from '#engine/onnx/learning/full-training';
import type { TrainingRow } from '#engine/training-engine';
import { openGraph, TINY_LORA } from './run-graph.ts';
import { plainRow, randomTokens, tinyConfig, TINY_FAMILIES } from './tiny-decoders.ts';

const random = createRandom(21);
const prompt = randomTokens(6, random);
const completions = [randomTokens(5, random), randomTokens(7, random), randomTokens(3, random)];
const WEIGHT = 0.1;

/** Prompt and completion in a row of their own; only the completion is trained. */
const alone = (completion: readonly number[]): TrainingRow => {
  const row = plainRow([...prompt, ...completion], {});
  const from = prompt.length - 1;
  return {
    ...row,
    predictFrom: row.predictFrom.subarray(from),
    targets: row.targets.subarray(from),
    sequenceIds: row.sequenceIds.subarray(from),
    inputs: { weights: new Float32Array(completion.length).fill(WEIGHT) },
  };
};

/** The prompt once, then every completion as a child of it. */
function sharedPrompt(): TrainingRow {
  const tokens = [...prompt];
  const positions = prompt.map((_, i) => i);
  const segments = prompt.map(() => 0);
  const parents = [-1];
  const predictFrom: number[] = [];
  const targets: number[] = [];
  const sequenceIds: number[] = [];
  completions.forEach((completion, sequence) => {
    completion.forEach((token, i) => {
      predictFrom.push(i === 0 ? prompt.length - 1 : tokens.length - 1);
      targets.push(token);
      sequenceIds.push(sequence);
      tokens.push(token);
      positions.push(prompt.length + i);
      segments.push(sequence + 1);
    });
    parents.push(0);
  });
  return row({ tokens, positions, segments, parents, predictFrom, targets, sequenceIds });
}

/** Every sequence whole, one after another, blind to the others. */
function sideBySide(): TrainingRow {
  const tokens: number[] = [];
  const fields = {
    tokens,
    positions: [] as number[],
    segments: [] as number[],
    parents: [] as number[],
    predictFrom: [] as number[],
    targets: [] as number[],
    sequenceIds: [] as number[],
  };
  completions.forEach((completion, sequence) => {
    const start = tokens.length;
    [...prompt, ...completion].forEach((token, i) => {
      tokens.push(token);
      fields.positions.push(i);
      fields.segments.push(sequence);
      if (i < prompt.length) return;
      fields.predictFrom.push(start + i - 1);
      fields.targets.push(token);
      fields.sequenceIds.push(sequence);
    });
    fields.parents.push(-1);
  });
  return row(fields);
}

function row(fields: Readonly<Record<Exclude<keyof TrainingRow, 'inputs'>, readonly number[]>>): TrainingRow {
  const int32 = (name: keyof typeof fields) => Int32Array.from(fields[name]);
  return {
    tokens: int32('tokens'),
    positions: int32('positions'),
    segments: int32('segments'),
    parents: int32('parents'),
    predictFrom: int32('predictFrom'),
    targets: int32('targets'),
    sequenceIds: int32('sequenceIds'),
    inputs: { weights: new Float32Array(fields.targets.length).fill(WEIGHT) },
  };
}

test.each(TINY_FAMILIES)('%s: sequences packed into one row train as if each were alone', async (family) => {
  const graph = await openGraph(tinyConfig(family), TINY_LORA, weightedCrossEntropy);
  const runs = await Promise.all(completions.map((completion) => graph.run([alone(completion)])));
  const loss = runs.reduce((sum, run) => sum + run.loss, 0);
  for (const packing of [[sharedPrompt()], [sideBySide()], completions.map(alone)]) {
    const packed = await graph.run(packing);
    expect(Math.abs(packed.loss - loss)).toBeLessThan(2e-6);
    for (const [name, gradient] of packed.gradients) {
      gradient.forEach((value, i) => {
        const expected = runs.reduce((sum, run) => sum + run.gradients.get(name)![i]!, 0);
        expect(Math.abs(value - expected), `${name}[${i}]`).toBeLessThan(1e-6);
      });
    }
  }
  await graph.close();
});
