// Chooses a sequence's next token from its logits, within its constraint, and decides whether the sequence ends with it.
import { invariant } from '#base/invariant';
import type { FinishReason } from '#domain/sampling';
import type { TokenEvent } from '../../inference-engine.ts';
import type { GrammarMatcher } from '#grammar/matcher';
import { tokenRow, type Logits } from './logits.ts';
import { sampleToken } from './sampler.ts';
import type { Sequence } from './sequence.ts';

/** What the engine knows about its tokenizer. */
export interface KnownTokens {
  /** Ids below this are tokens; higher ids are padding of the embedding. */
  readonly tokenCount: number;
  readonly eosTokenIds: ReadonlySet<number>;
}

/** Null: no constraint applies to the next token. */
export function matcherOf({ live, choiceIndex, constrained }: Sequence): GrammarMatcher | null {
  if (!constrained) return null;
  const matcher = live.scope!.matchers[choiceIndex];
  invariant(matcher, 'a constrained sequence has a matcher');
  return matcher;
}

/** Appends the token to the sequence. The first event of a request carries the information about its prompt. */
export function nextToken(
  sequence: Sequence,
  logits: Logits,
  row: number,
  { eosTokenIds, tokenCount }: KnownTokens,
): TokenEvent {
  const { live, choiceIndex, processors, random } = sequence;
  const { sampling, constraint } = live.request;
  const matcher = matcherOf(sequence);
  const input = {
    row: tokenRow(logits, row, tokenCount),
    mask: matcher && matcher.mask(),
    processors,
    sequence,
  };
  const sampled = sampleToken(input, sampling, random);
  matcher?.accept(sampled.tokenId);
  const finishReason = findFinishReason(sequence, sampled.tokenId, eosTokenIds);
  if (constraint && sampled.tokenId === constraint.afterTokenId) sequence.constrained = true;
  sequence.tokens.push(sampled.tokenId);
  const { prompt } = live;
  live.prompt = null;
  return { choiceIndex, ...sampled, finishReason, ...(prompt ? { prompt } : {}) };
}

/** Called before the token is appended. Null: the sequence continues. */
function findFinishReason(
  { live, constrained, tokenCount, promptTokenCount }: Sequence,
  tokenId: number,
  eosTokenIds: ReadonlySet<number>,
): FinishReason | null {
  const { stopTokenIds, maxTokens } = live.request.sampling;
  if (stopTokenIds.includes(tokenId)) return 'stop';
  if (constrained && eosTokenIds.has(tokenId)) return 'stop'; // even with ignoreEos: the constrained text is complete
  return tokenCount + 1 - promptTokenCount >= maxTokens ? 'length' : null;
}
