// A grammar whose masks take long slows down only its own answer.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { GenerateRequest, InferenceEngine } from '#engine/inference-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { readTextModel } from '#text/text-model';
import { createVocabulary } from '#text/vocabulary';
import { request, sampling } from '../../support/contract/inference-engine.ts';

const STARTER = fileURLToPath(new URL('../../../models/starter', import.meta.url));
/** Ambiguous: the next characters depend on all ways to parse the previous ones. */
const SLOW = '([a-z ]*[a-m][a-z ]{40}){40}';

let engine: InferenceEngine;
beforeAll(async () => {
  const vocabulary = createVocabulary(await readTextModel(STARTER));
  const limits = { ...DEFAULT_INFERENCE_LIMITS, cacheBytes: 64 * 2 ** 20 };
  engine = await openOnnxInferenceEngine({ modelDirectory: STARTER, threads: 1, limits, vocabulary, log: silentLog });
}, 60_000);
afterAll(() => engine.close());

const asked = (maxTokens: number, more: Partial<GenerateRequest> = {}, seed = 7) =>
  request({ sampling: sampling({ maxTokens, seed, temperature: 1.5 }), ...more });
const signal = () => AbortSignal.timeout(120_000);

/** How many tokens an answer with slow masks gets while 40 tokens without a grammar are generated in the same batch. */
async function slowTokensMeanwhile(seed: number): Promise<number> {
  const leave = new AbortController();
  const constraint = { constraint: { kind: 'regex' as const, source: SLOW }, afterTokenId: null };
  let slowTokens = 0;
  const slowly = (async () => {
    for await (const _ of engine.generate(asked(200, { constraint }, seed), leave.signal)) slowTokens++;
  })().catch(() => {}); // it may be refused as too costly
  await expect.poll(() => slowTokens, { timeout: 60_000 }).toBeGreaterThan(3);

  const before = slowTokens;
  let free = 0;
  for await (const _ of engine.generate(asked(40), signal())) free++;
  const meanwhile = slowTokens - before;
  leave.abort();
  await slowly;
  expect(free).toBe(40);
  return meanwhile;
}

test('an answer without a grammar does not wait for the masks of another', async () => {
  // In lockstep the other would get as far each time: 40 tokens, or 39. Otherwise its progress depends on the machine.
  let fewest = Infinity;
  for (let seed = 7; seed < 12 && fewest >= 36; seed++) fewest = Math.min(fewest, await slowTokensMeanwhile(seed));
  expect(fewest).toBeLessThan(36);
}, 600_000);

test('a parked answer has the same tokens as alone', async () => {
  const constraint = { constraint: { kind: 'regex' as const, source: '[a-z ]{20,60}' }, afterTokenId: null };
  const answer = async () => {
    const tokens: number[] = [];
    for await (const { tokenId } of engine.generate(asked(30, { constraint }), signal())) tokens.push(tokenId);
    return tokens;
  };
  const alone = await answer();
  const crowd = await Promise.all([answer(), ...Array.from({ length: 12 }, () => answer())]);
  for (const tokens of crowd) expect(tokens).toEqual(alone);
}, 120_000);
