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
/** First window of the nucleus search; widened to NEGLIGIBLE_NATS when the nucleus is larger. */
const NUCLEUS_NATS = 10;

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

function drawToken(logits: Float32Array, params: SamplerParams, random: Random): number {
  const temperature = Math.max(params.temperature, MIN_TEMPERATURE);
  const topK = params.topK > 0 && params.topK < logits.length ? params.topK : 0;
  if (topK > 0) return drawFromSorted(logits, findTopWithTies(logits, topK), null, params.topP, temperature, random);
  if (params.topP < 1) return drawFromNucleus(logits, params.topP, temperature, random);
  return drawFromAll(logits, temperature, random);
}

/** No filter: the CDF runs in order of token id. */
function drawFromAll(logits: Float32Array, temperature: number, random: Random): number {
  const best = logits[argmax(logits)]!;
  let target = random.next() * totalWeight(logits, best, temperature);
  const floor = best - NEGLIGIBLE_NATS * temperature;
  let last = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit < floor) continue;
    last = id;
    target -= Math.exp((logit - best) / temperature);
    if (target < 0) return id;
  }
  return last; // rounding left a crumb of the target over
}

/** top_p alone: sorts only a window of likely tokens, and the wide one only if the nucleus is larger. */
function drawFromNucleus(logits: Float32Array, topP: number, temperature: number, random: Random): number {
  const best = logits[argmax(logits)]!;
  const total = totalWeight(logits, best, temperature);
  for (const nats of [NUCLEUS_NATS, NEGLIGIBLE_NATS]) {
    const window = sortByLogit(logits, findAbove(logits, best - nats * temperature));
    let weight = 0;
    for (const id of window) weight += Math.exp((logits[id]! - best) / temperature);
    if (weight >= topP * total || nats === NEGLIGIBLE_NATS) {
      return drawFromSorted(logits, window, total, topP, temperature, random);
    }
  }
  return argmax(logits); // not reached: the second window always draws
}

/**
 * `ids` by falling logit. Keeps a token while those before it hold less than topP of `total` (null: of the ids' own
 * weight), so the best always stays; then draws among the kept, best first.
 */
function drawFromSorted(
  logits: Float32Array,
  ids: readonly number[],
  total: number | null,
  topP: number,
  temperature: number,
  random: Random,
): number {
  const best = logits[ids[0]!]!;
  const weights = ids.map((id) => Math.exp((logits[id]! - best) / temperature));
  const limit = topP < 1 ? topP * (total ?? weights.reduce((a, b) => a + b, 0)) : Infinity;
  let kept = 0;
  let keptWeight = 0;
  while (kept < ids.length && keptWeight < limit) keptWeight += weights[kept++]!;
  let target = random.next() * keptWeight;
  for (let i = 0; i < kept; i++) {
    target -= weights[i]!;
    if (target < 0) return ids[i]!;
  }
  return ids[kept - 1]!;
}

function totalWeight(logits: Float32Array, best: number, temperature: number): number {
  const floor = best - NEGLIGIBLE_NATS * temperature;
  let total = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit >= floor) total += Math.exp((logit - best) / temperature);
  }
  return total;
}

export function argmax(logits: Float32Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  return best;
}

function findAbove(logits: Float32Array, floor: number): number[] {
  const ids: number[] = [];
  for (let id = 0; id < logits.length; id++) if (logits[id]! >= floor) ids.push(id);
  return ids;
}

const sortByLogit = (logits: Float32Array, ids: number[]): number[] =>
  ids.sort((a, b) => logits[b]! - logits[a]! || a - b);

/** The k best, and whatever equals the k-th. */
function findTopWithTies(logits: Float32Array, k: number): number[] {
  const top = findTop(logits, k);
  const ids = findAbove(logits, logits[top.at(-1)!]!);
  return ids.length === top.length ? top : sortByLogit(logits, ids);
}

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
