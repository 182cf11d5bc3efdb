// log Σ exp over vocabularies of realistic size, compared with float64.
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { Graph } from './graph.ts';
import { logSumExp } from './log-sum-exp.ts';
import { openSession, type Session } from './session.ts';

const ROWS = 5;

test.each([
  ['of Qwen3', 151_936],
  ['of GPT-2, which no block divides', 50_257],
  ['of one block', 100],
])('over a vocabulary %s, the sum is that of float64', async (_name, vocab) => {
  const logits = randomLogits(vocab);
  const session = await openLogSumExp(vocab);
  const found = await logSumExpOf(session, logits);
  found.forEach((value, row) => {
    expect(Math.abs(value - inFloat64(rowOf(logits, row)))).toBeLessThan(3e-6);
  });
  await session.close();
});

test('a row keeps its bits whatever other rows are in the batch', async () => {
  const logits = randomLogits(50_257);
  const session = await openLogSumExp(50_257);
  const together = await logSumExpOf(session, logits);
  for (let row = 0; row < ROWS; row++) {
    expect([...(await logSumExpOf(session, rowOf(logits, row)))]).toEqual([together[row]]);
  }
  await session.close();
});

test.each([NaN, Infinity])('one logit of %s is never lost in a finite sum', async (value) => {
  const session = await openLogSumExp(1_000);
  for (const at of [0, 1, 500, 999]) {
    const logits = new Float32Array(1_000).fill(1);
    logits[at] = value;
    const [found] = await logSumExpOf(session, logits);
    expect(found).not.toSatisfy(Number.isFinite);
  }
  await session.close();
});

test('logits far apart in size stay exact', async () => {
  const logits = new Float32Array(1_000).fill(-1e30);
  logits[700] = 3;
  logits[701] = 3;
  const session = await openLogSumExp(1_000);
  const [found] = await logSumExpOf(session, logits);
  expect(found).toBeCloseTo(3 + Math.LN2, 6);
  await session.close();
});

let vocabOpen = 0;
async function openLogSumExp(vocab: number): Promise<Session> {
  const g = new Graph();
  g.output('sum', logSumExp(g, g.input('logits', 'float32', ['rows', vocab])));
  vocabOpen = vocab;
  return openSession(g, { threads: 2 });
}

async function logSumExpOf(session: Session, data: Float32Array): Promise<Float32Array> {
  return (await session.run({ logits: { data, dims: [data.length / vocabOpen, vocabOpen] } }))['sum']!;
}

/** As spread as a trained model's logits: a deviation of 3. */
function randomLogits(vocab: number): Float32Array {
  const random = createRandom(1);
  return Float32Array.from({ length: ROWS * vocab }, () => (random.next() + random.next() + random.next() - 1.5) * 6);
}

const rowOf = (logits: Float32Array, row: number): Float32Array =>
  logits.subarray((row * logits.length) / ROWS, ((row + 1) * logits.length) / ROWS);

function inFloat64(row: Float32Array): number {
  let sum = 0;
  for (const logit of row) sum += Math.exp(logit - 9);
  return 9 + Math.log(sum);
}
