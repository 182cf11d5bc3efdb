// Changes to the logits before a token is chosen, in the order of the wire reference: allowed tokens, bad words, minimum
// length, biases, penalties, end of reasoning. A processor works in place; each sequence has a list of its own, because some processors
// remember what they have counted. Constraints are separate (grammar/), because their mask shows in reported log-probabilities.
import type { SamplingParams, ThinkingBudget } from '#domain/sampling';

export interface TokensSoFar {
  /** Prompt and completion. */
  readonly tokens: readonly number[];
  readonly promptTokenCount: number;
}

/** `logits` is `[vocab]`. */
export type LogitsProcessor = (logits: Float32Array, sequence: TokensSoFar) => void;

export function createLogitsProcessors(params: SamplingParams): LogitsProcessor[] {
  const { allowedTokenIds, badWords, minTokens, endTokenIds, logitBias } = params;
  const { repetitionPenalty, frequencyPenalty, presencePenalty, thinkingBudget } = params;
  const processors: LogitsProcessor[] = [];
  if (allowedTokenIds !== null) processors.push(allowOnly(allowedTokenIds));
  if (badWords.length > 0) processors.push(forbidWords(badWords));
  if (minTokens > 0 && endTokenIds.length > 0) processors.push(forbidEnd(endTokenIds, minTokens));
  if (logitBias.length > 0) processors.push(addBias(logitBias));
  if (repetitionPenalty !== 1) processors.push(penalizeRepetition(repetitionPenalty));
  if (frequencyPenalty !== 0 || presencePenalty !== 0) processors.push(penalizeUse(frequencyPenalty, presencePenalty));
  if (thinkingBudget !== null) processors.push(endThinking(thinkingBudget));
  return processors;
}

function allowOnly(tokenIds: readonly number[]): LogitsProcessor {
  return (logits) => {
    const kept = tokenIds.map((id) => logits[id]!);
    logits.fill(-Infinity);
    tokenIds.forEach((id, i) => (logits[id] = kept[i]!));
  };
}

/** Bans the last token of a word if the completion ends with the tokens before it. The prompt does not count. */
function forbidWords(words: readonly (readonly number[])[]): LogitsProcessor {
  return (logits, { tokens, promptTokenCount }) => {
    for (const word of words) {
      const start = tokens.length - (word.length - 1);
      if (start < promptTokenCount) continue;
      if (word.slice(0, -1).every((id, i) => tokens[start + i] === id)) logits[word.at(-1)!] = -Infinity;
    }
  };
}

/** Applies unless no other token is allowed: then the constrained text is complete, however short. */
function forbidEnd(endTokenIds: readonly number[], minTokens: number): LogitsProcessor {
  return (logits, { tokens, promptTokenCount }) => {
    if (tokens.length - promptTokenCount >= minTokens) return;
    if (logits.every((logit, id) => logit === -Infinity || endTokenIds.includes(id))) return;
    for (const id of endTokenIds) logits[id] = -Infinity;
  };
}

function addBias(biases: SamplingParams['logitBias']): LogitsProcessor {
  return (logits) => {
    for (const [id, bias] of biases) logits[id]! += bias;
  };
}

/** arXiv:1909.05858 §4.1, adapted to the sign of the logit: a penalty never makes a token more likely. */
function penalizeRepetition(penalty: number): LogitsProcessor {
  const seen = new Set<number>();
  let counted = 0;
  return (logits, { tokens }) => {
    for (; counted < tokens.length; counted++) seen.add(tokens[counted]!);
    for (const id of seen) {
      const logit = logits[id]!;
      logits[id] = logit > 0 ? logit / penalty : logit * penalty;
    }
  };
}

/** OpenAI's penalties: by how often a token was used, and once for being used at all. */
function penalizeUse(byCount: number, once: number): LogitsProcessor {
  const counts = new Map<number, number>();
  let counted: number | null = null;
  return (logits, { tokens, promptTokenCount }) => {
    for (counted ??= promptTokenCount; counted < tokens.length; counted++) {
      const id = tokens[counted]!;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for (const [id, count] of counts) logits[id]! -= byCount * count + once;
  };
}

/** If another option of the request forbids the end of reasoning, reasoning continues. */
function endThinking({ tokens: limit, start, end, isOpen }: ThinkingBudget): LogitsProcessor {
  let open = isOpen;
  let thought = 0;
  let read: number | null = null;
  return (logits, { tokens, promptTokenCount }) => {
    for (read ??= promptTokenCount; read < tokens.length; read++) {
      if (open && tokens[read] === end) open = false;
      else if (open) thought++;
      else open = start.every((id, i) => tokens[read! - start.length + 1 + i] === id);
    }
    const logit = logits[end]!;
    if (!open || thought < limit || logit === -Infinity) return;
    logits.fill(-Infinity);
    logits[end] = logit;
  };
}
