// Logits → token id. Order as in the wire reference: processors, temperature, top_k, top_p, then one draw by inverse
// CDF. The slow twin that defines "correct" (sort everything) is in sampler.test.ts. Knows one row at a time, so the
// choice cannot depend on the rest of the batch; arithmetic is float64 and uses one random number per token.
import { AppError } from '#domain/errors';
import type { SamplingParams } from '#domain/sampling';
import type { Random } from '#base/random';
import type { LogitsProcessor, TokensSoFar } from './logits-processor.ts';

export interface SampledToken {
  readonly tokenId: number;
  /** Raw logit − logsumexp in float32, nats. */
  readonly logprob: number;
  readonly topLogprobs: readonly { tokenId: number; logprob: number }[];
}

export type SamplerParams = Pick<SamplingParams, 'temperature' | 'topP' | 'topK' | 'topLogprobs'>;

export const GREEDY_BELOW = 1e-5;
/** A smaller temperature above greedy is raised to this, as vLLM does: dividing by less overflows float32 logits. */
export const MIN_TEMPERATURE = 0.01;
/** Tokens this many temperatures under the best weigh under e^-30 each: even 150k of them are below 2e-8 together. */
const NEGLIGIBLE_NATS = 30;

/** `logits` is `[vocab]` and is left as it was; `logsumexp` is of the raw logits. */
export function sampleToken(
  logits: Float32Array,
  logsumexp: number,
  params: SamplerParams,
  random: Random,
  processors: readonly LogitsProcessor[] = [],
  sequence: TokensSoFar = { tokens: [], promptTokenCount: 0 },
): SampledToken {
  if (!Number.isFinite(logsumexp)) {
    throw new AppError(
      'engine_failed',
      `The model's output is not a number (logsumexp ${logsumexp}): weights overflow?`,
    );
  }
  const shaped = processors.length === 0 ? logits : logits.slice();
  for (const process of processors) process(shaped, sequence);
  const tokenId = params.temperature < GREEDY_BELOW ? argmax(shaped) : drawToken(shaped, params, random);
  return {
    tokenId,
    logprob: Math.fround(logits[tokenId]! - logsumexp),
    topLogprobs: listTopLogprobs(logits, logsumexp, params.topLogprobs),
  };
}

/** Best first; equal logits by token id. */
function listTopLogprobs(logits: Float32Array, logsumexp: number, count: number) {
  return findTop(logits, count).map((tokenId) => ({ tokenId, logprob: Math.fround(logits[tokenId]! - logsumexp) }));
}

/**
 * Finds what top_k and top_p keep without sorting the vocabulary, then draws by inverse CDF in order of token id.
 * A token is kept if its logit is above `cut`, or equal to it and its id at most `lastId`.
 */
function drawToken(logits: Float32Array, params: SamplerParams, random: Random): number {
  const temperature = Math.max(params.temperature, MIN_TEMPERATURE);
  const best = logits[argmax(logits)]!;
  const hasTopK = params.topK > 0 && params.topK < logits.length;
  const kth = hasTopK ? logits[findTop(logits, params.topK).at(-1)!]! : -Infinity; // what equals the k-th stays
  const floor = Math.max(kth, best - NEGLIGIBLE_NATS * temperature);
  const { cut, lastId, weight } =
    params.topP < 1
      ? cutNucleus(logits, best, temperature, floor, params.topP)
      : { cut: floor, lastId: Infinity, weight: totalWeight(logits, best, temperature, floor) };
  let target = random.next() * weight;
  let drawn = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit < cut || (logit === cut && id > lastId)) continue;
    drawn = id;
    target -= weightAt(stepsBelow(logit, best, temperature), logit, best, temperature);
    if (target < 0) break;
  }
  return drawn; // the last one kept, if rounding left a crumb of the target over
}

function totalWeight(logits: Float32Array, best: number, temperature: number, floor: number): number {
  let total = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit >= floor) total += weightAt(stepsBelow(logit, best, temperature), logit, best, temperature);
  }
  return total;
}

/**
 * top_p: keeps a token while those before it, best first and equal ones by id, hold less than topP of the weight; so
 * the best always stays. Weights are summed by step of the logit, and only the step in which the cut falls is sorted.
 */
function cutNucleus(logits: Float32Array, best: number, temperature: number, floor: number, topP: number) {
  const stepWeights = new Float64Array(EXP_STEPS.length);
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit < floor) continue;
    const step = stepsBelow(logit, best, temperature);
    stepWeights[step]! += weightAt(step, logit, best, temperature);
  }
  const limit = topP * stepWeights.reduce((sum, stepWeight) => sum + stepWeight, 0); // summed as below: it is reached
  let weight = 0;
  let cutStep = 0;
  while (weight + stepWeights[cutStep]! < limit) weight += stepWeights[cutStep++]!;
  const inStep: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit >= floor && stepsBelow(logit, best, temperature) === cutStep) inStep.push(id);
  }
  sortByLogit(logits, inStep);
  let lastId = -1;
  for (const id of inStep) {
    if (weight >= limit) break;
    weight += weightAt(cutStep, logits[id]!, best, temperature);
    lastId = id;
  }
  return { cut: logits[lastId]!, lastId, weight };
}

/** e^-(i / EXP_STEPS_PER_NAT) */
const EXP_STEPS_PER_NAT = 64;
const EXP_STEPS = Float64Array.from({ length: NEGLIGIBLE_NATS * EXP_STEPS_PER_NAT + 2 }, (_, i) =>
  Math.exp(-i / EXP_STEPS_PER_NAT),
);

/** How many steps, rounded, a logit lies under the best. */
const stepsBelow = (logit: number, best: number, temperature: number): number =>
  (((best - logit) / temperature) * EXP_STEPS_PER_NAT + 0.5) | 0;

/** exp((logit − best) / temperature) from a table and a series: 1e-12 exact, and 5 times faster than Math.exp. */
function weightAt(step: number, logit: number, best: number, temperature: number): number {
  const rest = (logit - best) / temperature + step / EXP_STEPS_PER_NAT; // within ±1/128
  return EXP_STEPS[step]! * (1 + rest * (1 + rest * (1 / 2 + rest * (1 / 6 + rest / 24))));
}

export function argmax(logits: Float32Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  return best;
}

const sortByLogit = (logits: Float32Array, ids: number[]): number[] =>
  ids.sort((a, b) => logits[b]! - logits[a]! || a - b);

/** Ids of the k best, best first, equal logits by id: one pass with a short sorted list, or a sort when k is large. */
function findTop(logits: Float32Array, k: number): number[] {
  if (k === 0) return [];
  if (k > 64) return sortByLogit(logits, Array.from(logits.keys())).slice(0, k);
  const ids: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (ids.length === k && !(logit > logits[ids[k - 1]!]!)) continue;
    let at = ids.length < k ? ids.length : k - 1;
    while (at > 0 && logit > logits[ids[at - 1]!]!) {
      ids[at] = ids[at - 1]!;
      at--;
    }
    ids[at] = id;
  }
  return ids;
}
