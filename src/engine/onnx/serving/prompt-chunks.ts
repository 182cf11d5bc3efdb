// How a prompt is cut into the chunks that prefill computes and the prefix cache keeps, and what is reported about each of its
// tokens on request.
import type { RankedLogprob } from '../../inference-engine.ts';
import { rangesFrom, tokenRow, type Logits } from './logits.ts';
import { blockKey, scopeKey, type PrefixScope } from './prefix-cache.ts';
import { listTop } from './sampler.ts';

export interface PromptChunk {
  readonly end: number;
  /** In the prefix cache. */
  readonly key: string;
}

/** Chunks end at multiples of `chunkLength`, the last one with the prompt, so their ends depend on the prompt alone. */
export function promptChunks(tokens: readonly number[], chunkLength: number, scope: PrefixScope): PromptChunk[] {
  const chunks: PromptChunk[] = [];
  let key = scopeKey(scope);
  for (let start = 0; start < tokens.length; start += chunkLength) {
    const end = Math.min(start + chunkLength, tokens.length);
    key = blockKey(key, tokens.slice(start, end));
    chunks.push({ end, key });
  }
  return chunks;
}

/** `row` is the position before `tokenId`, which may be padding of the embedding. `count` alternatives, −1 for all tokens. */
export function rankPromptToken(
  logits: Logits,
  row: number,
  tokenCount: number,
  tokenId: number,
  count: number,
): RankedLogprob[] {
  const alternatives = tokenRow(logits, row, tokenCount);
  const { logsumexp } = alternatives;
  const own = logits.logits[(row * logits.logits.length) / logits.logsumexp.length + tokenId]!;
  let better = 0;
  for (const { start, end } of rangesFrom(alternatives, own))
    for (let id = start; id < end; id++) if (alternatives.logits[id]! > own) better++;
  const best = listTop(alternatives, count).map((token, i) => ({ ...token, rank: i + 1 }));
  return [
    { tokenId, logprob: Math.fround(own - logsumexp), rank: better + 1 },
    ...best.filter((token) => token.tokenId !== tokenId),
  ];
}
