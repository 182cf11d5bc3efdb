// Histories of a rollout → token sequences with the sampled tokens verbatim: ids come from the Choice, never from text that
// is encoded again. Decides which tokens are trained and why a turn is not; knows rewards only as someone else's business.
//
// A later turn goes on in the same sequence: the sampled tokens stay, and what the template puts between them (the end of
// the turn, the next messages, the next generation prompt) is encoded on its own. Where the template rewrites the past (say,
// drops old reasoning), or the client's own prompt ids do not start with the tokens so far, a new sequence begins.
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { History, SampledTurn } from '#domain/trajectory';

/** The base model's text side, as main.ts wires it. */
export interface ConversationEncoder {
  readonly vocabSize: number;
  /** The template's text up to and including the beginning of the next assistant turn. */
  renderPrompt(messages: readonly ChatMessage[], tools: readonly ToolDefinition[] | null): string;
  /** The template's text with every turn closed. */
  renderClosed(messages: readonly ChatMessage[], tools: readonly ToolDefinition[] | null): string;
  /** What the template puts after an assistant's content: the end-of-turn token and what follows it. */
  readonly turnEnd: string;
  encode(text: string): number[];
  /** The id of a token's text; null if there is none. */
  tokenId(text: string): number | null;
}

export interface TokenSequence {
  readonly tokens: readonly number[];
  /** `[tokens]` sampling logprob in nats, NaN where unknown; null where the token is context. */
  readonly sampled: readonly (number | null)[];
}

/** Why a history or a turn gives nothing to train on. */
export type TokenProblem =
  | 'no_trainable_tokens' // no Choice with logprobs or token ids
  | 'unknown_tokens' // a logprob's token is neither `token_id:N` nor a token of the vocabulary
  | 'logprob_count_mismatch'; // token ids and logprobs of a Choice differ in number

export interface TokenizedHistory {
  readonly sequences: readonly TokenSequence[];
  readonly problems: readonly TokenProblem[];
}

export function tokenizeHistory({ turns, tools }: History, encoder: ConversationEncoder): TokenizedHistory {
  const sequences: Building[] = [];
  const problems: TokenProblem[] = [];
  const messages: ChatMessage[] = [];
  let open: Building | null = null;
  for (const turn of turns) {
    if (turn.kind === 'sampled') {
      const sampled = sampledTokens(turn, encoder);
      if (Array.isArray(sampled)) {
        open = continueWith(open, turn, messages, tools, encoder);
        if (!sequences.includes(open)) sequences.push(open);
        for (const { id, logprob } of sampled) {
          open.tokens.push(id);
          open.sampled.push(logprob);
        }
        open.messageCount = messages.length + 1;
      } else if (sampled !== 'no_trainable_tokens') {
        problems.push(sampled);
      }
    }
    messages.push(turn.message);
  }
  if (sequences.length === 0 && problems.length === 0) problems.push('no_trainable_tokens');
  // Everything after the last sampled token was only needed as a prompt: it is not there, because prompts are added late.
  return { sequences, problems };
}

interface Building {
  tokens: number[];
  sampled: (number | null)[];
  /** Messages that the tokens stand for, the last sampled one included. */
  messageCount: number;
}

/** The sequence that ends with the prompt of this turn: the open one, longer, or a new one. */
function continueWith(
  open: Building | null,
  turn: SampledTurn,
  messages: readonly ChatMessage[],
  tools: History['tools'],
  encoder: ConversationEncoder,
): Building {
  if (turn.promptTokenIds) {
    const ids = turn.promptTokenIds;
    if (open && open.tokens.every((token, i) => ids[i] === token)) return extend(open, ids.slice(open.tokens.length));
    return begin(ids);
  }
  const prompt = encoder.renderPrompt(messages, tools);
  if (open) {
    const past = encoder.renderClosed(messages.slice(0, open.messageCount), tools);
    if (prompt.startsWith(past)) {
      const between = encoder.encode(encoder.turnEnd + prompt.slice(past.length));
      return extend(open, between[0] === open.tokens.at(-1) ? between.slice(1) : between);
    }
  }
  return begin(encoder.encode(prompt));
}

const begin = (context: readonly number[]): Building => ({
  tokens: [...context],
  sampled: context.map(() => null),
  messageCount: 0,
});

function extend(open: Building, context: readonly number[]): Building {
  open.tokens.push(...context);
  for (const _ of context) open.sampled.push(null);
  return open;
}

interface SampledToken {
  readonly id: number;
  readonly logprob: number;
}

function sampledTokens(
  { tokenIds, logprobs }: SampledTurn,
  encoder: ConversationEncoder,
): SampledToken[] | TokenProblem {
  const known = (id: number | null): id is number =>
    id !== null && Number.isInteger(id) && id >= 0 && id < encoder.vocabSize;
  if (tokenIds && tokenIds.length > 0) {
    if (logprobs && logprobs.length !== tokenIds.length) return 'logprob_count_mismatch';
    if (!tokenIds.every(known)) return 'unknown_tokens';
    return tokenIds.map((id, i) => ({ id, logprob: logprobs?.[i]?.logprob ?? NaN }));
  }
  if (!logprobs || logprobs.length === 0) return 'no_trainable_tokens';
  const tokens = logprobs.map(({ token, logprob }) => ({ id: parseTokenId(token, encoder), logprob: logprob ?? NaN }));
  return tokens.every((token): token is SampledToken => known(token.id)) ? tokens : 'unknown_tokens';
}

function parseTokenId(token: string, encoder: ConversationEncoder): number | null {
  const match = /^token_id:(\d+)$/.exec(token);
  return match ? Number(match[1]) : encoder.tokenId(token);
}
