// Where thinking stands when an answer begins: a budget counts from there, and a constraint holds only after it. How thinking is separated
// from the text of an answer is in choice-text.ts.
import type { ThinkingBudget } from '#domain/sampling';
import { AppError } from '#domain/errors';
import { thinkingInPrompt, type ReasoningSyntax } from '#text/reasoning-parser';
import type { ThinkingState } from '#text/reasoning-parser/reasoned-text';
import type { TextModel } from '#text/text-model';
import type { Tokenizer } from '#text/tokenizer';
import type { SamplingOptions } from './chat-request.ts';

/** Null: the model does not think, or thinking is not told apart from the answer. */
export type Thinking = { readonly syntax: ReasoningSyntax; readonly state: ThinkingState } | null;

/** More than any text has that begins or ends thinking. */
const MARKER_TOKENS_MAX = 64;

/** After a prompt of tokens. `hasEnded`: as the client says; null: as the end of the prompt says. */
export function thinkingAfter(
  { reasoningSyntax: syntax, tokenizer }: Pick<TextModel, 'reasoningSyntax' | 'tokenizer'>,
  promptTokens: readonly number[],
  hasEnded: boolean | null,
): Thinking {
  if (!syntax) return null;
  if (hasEnded !== null) return { syntax, state: hasEnded ? 'closed' : 'open' };
  const end = tokenizer.decode(promptTokens.slice(-MARKER_TOKENS_MAX), { skipSpecialTokens: false });
  return { syntax, state: thinkingInPrompt(end, syntax) };
}

/** The token after which a constraint on the answer holds. Null: from the first token on. */
export const endOfThinking = (thinking: Thinking, tokenizer: Tokenizer): number | null =>
  thinking?.state === 'open' ? tokenizer.tokenId(thinking.syntax.end) : null;

const MESSAGES_BUDGET = 'thinking.budget_tokens';

/** Throws `invalid_request` if the model's reasoning has no end token that could be forced. */
export function thinkingBudget(
  { thinkingTokens: tokens, thinkingTokensField: param }: SamplingOptions,
  thinking: Thinking,
  tokenizer: Tokenizer,
): ThinkingBudget | null {
  if (tokens === null) return null;
  // Anthropic's clients send a budget to any model; one that does not reason keeps it.
  if (param === MESSAGES_BUDGET && !thinking) return null;
  const end = thinking && tokenizer.tokenId(thinking.syntax.end);
  if (thinking && end !== null)
    return { tokens, start: tokenizer.encode(thinking.syntax.start), end, isOpen: thinking.state === 'open' };
  const message =
    'This model does not end its reasoning with a single token, or does not reason. Set max_tokens, which limits reasoning and answer together.';
  throw new AppError('invalid_request', message, { param });
}
