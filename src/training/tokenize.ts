// Histories of a rollout → token sequences with the sampled tokens verbatim: ids come from the Choice, never from text that
// is encoded again. Decides which tokens are trained and why a turn is not; knows rewards only as someone else's business.
//
// A later turn goes on in the same sequence: the sampled tokens stay, and what the template puts between them (the end of
// the turn, the next messages, the next generation prompt) is encoded on its own. Where the template rewrites the past (say,
// drops old reasoning), or the client's own prompt ids do not start with the tokens so far, a new sequence begins.
//
// Where the job wants it (SFT, or RL that allows it), what an assistant said without tokens is trained as the template writes
// it, up to and including the end of the turn; its sampling log-probabilities are unknown.
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

/** All `[tokens]`, packed: a job has millions. */
export interface TokenSequence {
  readonly tokens: Int32Array;
  /** 1: to be predicted, 0: context. */
  readonly trained: Uint8Array;
  /** Sampling log-probability in nats, NaN where there is none. */
  readonly logprobs: Float32Array;
}

/** Why a history or a turn gives nothing to train on. */
export type TokenProblem =
  | 'no_logprobs' // Choices, but none with logprobs or token ids, and the server's memory has none of them
  | 'no_trainable_tokens' // no Choice at all: plain assistant messages are context
  | 'unknown_tokens' // a logprob's token is neither `token_id:N` nor a token of the vocabulary
  | 'logprob_count_mismatch'; // token ids and logprobs of a Choice differ in number

export interface TokenizedHistory {
  readonly sequences: readonly TokenSequence[];
  readonly problems: readonly TokenProblem[];
}

/** `written`: which assistant turns that carry no tokens are trained, as the template writes them. */
export function tokenizeHistory(
  { turns, tools }: History,
  encoder: ConversationEncoder,
  written: 'none' | 'all' | 'last' = 'none',
): TokenizedHistory {
  const sequences: Building[] = [];
  const problems: TokenProblem[] = [];
  const messages: ChatMessage[] = [];
  let open: Building | null = null;
  for (const turn of turns) {
    const prompt = () => encoder.renderPrompt(messages, tools);
    const said =
      turn.kind === 'sampled' && turn.tokens !== null
        ? sampledTokens(turn, encoder)
        : turn.message.role === 'assistant' && (written === 'all' || (written === 'last' && turn === turns.at(-1)))
          ? writtenTokens(prompt(), encoder.renderClosed([...messages, turn.message], tools), encoder)
          : null;
    if (said !== null && typeof said !== 'string') {
      const context = said.context ?? { ids: turn.kind === 'sampled' ? turn.promptTokenIds : null, text: prompt };
      open = continueWith(open, context, messages, tools, encoder);
      if (!sequences.includes(open)) sequences.push(open);
      for (const { id, logprob } of said.tokens) {
        open.tokens.push(id);
        open.sampled.push(logprob);
      }
      open.messageCount = messages.length + 1;
    } else if (said !== null) {
      problems.push(said);
    }
    messages.push(turn.message);
  }
  if (sequences.length === 0 && problems.length === 0) {
    problems.push(turns.some(({ kind }) => kind === 'sampled') ? 'no_logprobs' : 'no_trainable_tokens');
  }
  // Everything after the last sampled token was only needed as a prompt: it is not there, because prompts are added late.
  return { sequences: sequences.map(pack), problems };
}

const pack = ({ tokens, sampled }: Building): TokenSequence => ({
  tokens: Int32Array.from(tokens),
  trained: Uint8Array.from(sampled, (logprob) => (logprob === null ? 0 : 1)),
  logprobs: Float32Array.from(sampled, (logprob) => logprob ?? NaN),
});

/** What stands before a trained turn: the client's own ids if it sent them, else text. */
interface Context {
  readonly ids: readonly number[] | null;
  text(): string;
}

interface TrainedTurn {
  readonly tokens: readonly SampledToken[];
  /** Null: the prompt of the turn. */
  readonly context: Context | null;
}

interface Building {
  tokens: number[];
  /** Null: context. NaN: sampled, its log-probability unknown. */
  sampled: (number | null)[];
  /** Messages that the tokens stand for, the last sampled one included. */
  messageCount: number;
}

/** The sequence that ends with the prompt of this turn: the open one, longer, or a new one. */
function continueWith(
  open: Building | null,
  context: Context,
  messages: readonly ChatMessage[],
  tools: History['tools'],
  encoder: ConversationEncoder,
): Building {
  const { ids } = context;
  if (ids) {
    if (open && open.tokens.every((token, i) => ids[i] === token)) return extend(open, ids.slice(open.tokens.length));
    return begin(ids);
  }
  const prompt = context.text();
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
  { tokens, logprobs }: SampledTurn,
  encoder: ConversationEncoder,
): TrainedTurn | TokenProblem | null {
  if (tokens === null) return null;
  if (logprobs && logprobs.length !== tokens.length) return 'logprob_count_mismatch';
  const ids = tokens.map((token) => (typeof token === 'number' ? token : encoder.tokenId(token)));
  const known = (id: number | null): id is number =>
    id !== null && Number.isInteger(id) && id >= 0 && id < encoder.vocabSize;
  if (!ids.every(known)) return 'unknown_tokens';
  return { tokens: ids.map((id, i) => ({ id, logprob: logprobs?.[i] ?? NaN })), context: null };
}

/**
 * What the template makes of a turn, up to and including the token that ends it. `closed` is the conversation with the turn,
 * `prompt` the one before it; where they part early (a prompt that opens a thought which the turn lacks), the turn starts
 * there.
 */
function writtenTokens(prompt: string, closed: string, encoder: ConversationEncoder): TrainedTurn {
  let start = 0;
  while (start < prompt.length && prompt[start] === closed[start]) start++;
  const written = closed.slice(start);
  const { turnEnd } = encoder;
  const ids =
    turnEnd !== '' && written.endsWith(turnEnd)
      ? [...encoder.encode(written.slice(0, -turnEnd.length)), ...encoder.encode(turnEnd).slice(0, 1)]
      : encoder.encode(written.trimEnd());
  return {
    tokens: ids.map((id) => ({ id, logprob: NaN })),
    context: start === prompt.length ? null : { ids: null, text: () => prompt.slice(0, start) },
  };
}
