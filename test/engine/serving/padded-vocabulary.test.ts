// An embedding with more rows than its tokenizer has tokens: the padding rows are computed, and never sampled or listed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { InferenceEngine, TokenEvent } from '#engine/inference-engine';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { collect, request, sampling } from '../../support/contract/inference-engine.ts';
import { TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';

const ROWS = 260;
const TOKENS = 40;
/** Every token is a byte; the last one ends the text. */
const vocabulary = {
  bytes: Uint8Array.from({ length: TOKENS - 1 }, (_, i) => 97 + i),
  offsets: Uint32Array.from({ length: TOKENS + 1 }, (_, i) => Math.min(i, TOKENS - 1)),
  eosTokenIds: [TOKENS - 1],
};

let model: TinyModel;
let engine: InferenceEngine;
/** The same model, with a token for each row. */
let whole: InferenceEngine;
beforeAll(async () => {
  model = await writeTinyModel();
  const options = { modelDirectory: model.directory, threads: 1, limits: TEST_LIMITS, log: silentLog };
  engine = await openOnnxInferenceEngine({ ...options, vocabulary });
  whole = await openOnnxInferenceEngine(options);
});
afterAll(async () => {
  await engine.close();
  await whole.close();
  await model.remove();
});

const idsOf = (events: readonly TokenEvent[]) => events.map(({ tokenId }) => tokenId);

test.each([
  ['greedy', { temperature: 0 }],
  ['drawn', { temperature: 1 }],
  ['drawn from the best', { temperature: 2, topK: 60, topP: 0.99 }],
])('%s: only tokens are chosen and listed, with the log-probabilities of the whole softmax', async (_, overrides) => {
  const promptTokens = [1, 2, 3, 200]; // tokens sampled elsewhere can be read
  const asked = request({ promptTokens, n: 8, sampling: sampling({ ...overrides, maxTokens: 6, topLogprobs: -1 }) });
  const free = (await collect(whole, asked)).flat();
  expect(
    idsOf(free).some((id) => id >= TOKENS),
    'the test can fail',
  ).toBe(true);
  const events = (await collect(engine, asked)).flat();
  expect(events.length).toBeGreaterThanOrEqual(8);
  for (const { tokenId, topLogprobs } of events) {
    expect(tokenId).toBeLessThan(TOKENS);
    expect(topLogprobs.map((top) => top.tokenId).sort((a, b) => a - b)).toEqual(
      Array.from({ length: TOKENS }, (_, i) => i),
    );
  }
  const known = new Map((await collect(whole, asked))[0]![0]!.topLogprobs.map((top) => [top.tokenId, top.logprob]));
  expect(known.size).toBe(ROWS);
  const [first] = (await collect(engine, asked))[0]!;
  expect(first!.logprob).toBe(known.get(first!.tokenId));
  for (const { tokenId, logprob } of first!.topLogprobs) expect(logprob).toBe(known.get(tokenId));
});

test('a constraint leaves only tokens, and log-probabilities are of the remaining ones', async () => {
  const constraint = { constraint: { kind: 'regex', source: '[a-c]+' } as const, afterTokenId: null };
  const [events] = await collect(
    engine,
    request({ constraint, sampling: sampling({ maxTokens: 5, topLogprobs: -1 }) }),
  );
  for (const { tokenId, topLogprobs } of events!) {
    expect([0, 1, 2, TOKENS - 1]).toContain(tokenId);
    const mass = topLogprobs.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
    expect(mass).toBeCloseTo(1, 4);
  }
});

test('a prompt’s log-probabilities list tokens only, and its own token whatever it is', async () => {
  const asked = request({ promptTokens: [1, 200, 3], sampling: sampling({ promptLogprobs: -1, maxTokens: 1 }) });
  const logprobsOf = async (one: InferenceEngine) => (await collect(one, asked))[0]![0]!.prompt!.logprobs!;
  const [, own, others] = await logprobsOf(engine);
  const [, ownOfWhole] = await logprobsOf(whole);
  expect(own![0]).toMatchObject({ tokenId: 200, logprob: ownOfWhole![0]!.logprob });
  expect(own).toHaveLength(1 + TOKENS);
  expect(others).toHaveLength(TOKENS);
});

test.each([
  ['logit_bias', { logitBias: [[TOKENS, 1]] as const }],
  ['allowed_token_ids', { allowedTokenIds: [1, TOKENS] }],
  ['logprob_token_ids', { logprobTokenIds: [TOKENS] }],
])('%s has no place for a row that is no token', async (param, overrides) => {
  const asked = collect(engine, request({ sampling: sampling(overrides) }));
  const message = `${param} has token ${TOKENS}, which is not in the vocabulary of ${TOKENS} tokens.`;
  await expect(asked).rejects.toMatchObject({ code: 'invalid_request', param, message });
});

test('a token that the tokenizer has for other models is refused in a prompt, by its id', async () => {
  const offsets = Uint32Array.from({ length: ROWS + 2 }, () => 0);
  const other = await openOnnxInferenceEngine({
    modelDirectory: model.directory,
    threads: 1,
    limits: TEST_LIMITS,
    vocabulary: { bytes: new Uint8Array(0), offsets, eosTokenIds: [0] },
    log: silentLog,
  });
  const asked = collect(other, request({ promptTokens: [1, ROWS], sampling: sampling() }));
  await expect(asked).rejects.toMatchObject({
    code: 'invalid_request',
    message:
      'Token 260 is not in the vocabulary of 260 tokens: the tokenizer has it for models that also read images or sound.',
  });
  expect(await collect(other, request({ sampling: sampling({ maxTokens: 2 }) }))).toHaveLength(1);
  await other.close();
});
