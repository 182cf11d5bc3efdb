// Turns the histories of a rollout into token sequences with the sampled tokens verbatim: ids come from the choice, never from text that is
// encoded again. Decides which tokens are trained and why a turn is not; does not look at rewards.
//
// Every trained turn follows its own prompt: the ids that the choice carries, otherwise the rendered conversation, encoded as the chat
// endpoint encodes it. Tokens are compared, not text: a turn continues the open sequence only if its prompt begins with the tokens of
// that sequence. If it does not (the template rewrites earlier turns, or encodes sampled text differently), the turn becomes a separate
// sequence, because after other tokens its log-probabilities would differ.
//
// If the job allows it, assistant messages without tokens are trained as the template writes them, through the end of the turn; their
// sampling log-probabilities are unknown. Examples of SFT and DPO jobs are conversation-tokens.ts's.
import { parseSentJson } from '#base/sent-json';
import { createYielder } from '#base/yield-to-loop';
import type { ChatMessage } from '#domain/chat';
import { AppError } from '#domain/errors';
import type { History, SampledTurn, Turn } from '#domain/trajectory';
import type { ConversationEncoder } from './conversation-encoder.ts';
import { createPromptUnfolding } from './folded-prompts.ts';
import { UNLIMITED, type SequenceLimits, type TokenSequence, type TrainedRun } from './token-sequence.ts';
import { appendedStop, findWrittenTurn } from './written-turn.ts';

/** Why a history or a turn gives nothing to train on. */
export type TokenProblem =
  | 'no_logprobs' // Choices, but none with logprobs or token ids, and the server's memory has none of them
  | 'no_trainable_tokens' // no Choice at all: plain assistant messages are context
  | 'unknown_tokens' // a token of a Choice or of its prompt is not in the vocabulary
  | 'refused_by_template' // the prompt had to be rendered, and the chat template refuses the conversation
  | 'logprob_count_mismatch'; // token ids and logprobs of a Choice differ in number

export interface TokenizedHistory {
  /** The sequences that have something to train within the length. */
  readonly sequences: readonly TokenSequence[];
  /** One for each choice that gives nothing; without any choice, one for the history. */
  readonly problems: readonly TokenProblem[];
  /** Turns that came with their tokens but without a known prompt: it was rendered again. */
  readonly renderedPrompts: number;
  /** Turns with log-probabilities of a masked distribution. */
  readonly constrainedTurns: number;
  /** For each turn that was sampled from another distribution than the model's own: the request fields that changed it. */
  readonly reshapedTurns: readonly (readonly string[])[];
  /** What lies beyond the length. */
  readonly cut: { readonly sequences: number; readonly trainedTokens: number };
}

/** `written`: which assistant turns without tokens are trained, as the template writes them. Sequences are cut at the limit. */
export async function tokenizeHistory(
  { turns, tools: plain, toolsText }: History,
  encoder: ConversationEncoder,
  written: 'none' | 'all' = 'none',
  { lengthMax, count }: SequenceLimits = UNLIMITED,
): Promise<TokenizedHistory> {
  const tools = toolsText === undefined ? plain : (parseSentJson(toolsText) as History['tools']);
  const sequences: TokenSequence[] = [];
  const problems: TokenProblem[] = [];
  const cut = { sequences: 0, trainedTokens: 0 };
  let renderedPrompts = 0;
  let constrainedTurns = 0;
  const reshapedTurns: (readonly string[])[] = [];
  const messages: ChatMessage[] = [];
  const unfold = createPromptUnfolding();
  const yieldToLoop = createYielder();
  let open: Building | null = null;

  /** Cut at once: the sequences of a history may be much longer than its messages. */
  function close({ tokens, sampled, turns }: Building): void {
    if (tokens.length > lengthMax) {
      cut.sequences++;
      cut.trainedTokens += sampled.slice(lengthMax).filter(isTrained).length;
    }
    const kept = sampled.slice(0, lengthMax);
    if (!kept.some(isTrained)) return;
    count(kept.length);
    sequences.push(pack(tokens.slice(0, lengthMax), kept, turns));
  }

  for (const turn of turns) {
    const given = turn.kind === 'sampled' && turn.promptTokenIds ? unfold(turn.promptTokenIds) : null;
    const read = unlessRefused(() => readTurn(turn, given, messages, tools, encoder, written === 'all'));
    if (typeof read === 'string') problems.push(read);
    else if (read !== null) {
      if (given === null && turn.kind === 'sampled' && turn.tokens !== null) renderedPrompts++;
      if (isMasked(turn)) constrainedTurns++;
      if (turn.kind === 'sampled' && turn.reshapedBy) reshapedTurns.push(turn.reshapedBy);
      if (open && !goesOn(open, read)) {
        close(open);
        open = null;
      }
      open ??= { tokens: [], sampled: [], turns: [] };
      addTurn(open, read, turn);
    } else if (turn.kind === 'sampled') problems.push('no_logprobs');
    messages.push(turn.message);
    await yieldToLoop();
  }
  if (open) close(open);
  else if (problems.length === 0) problems.push('no_trainable_tokens');
  return { sequences, problems, renderedPrompts, constrainedTurns, reshapedTurns, cut };
}

/** A conversation that the template refuses costs a job this turn, not its other rollouts. */
function unlessRefused<T>(read: () => T): T | TokenProblem {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return 'refused_by_template';
    throw error;
  }
}

const isMasked = (turn: Turn): boolean =>
  turn.kind === 'sampled' && turn.isConstrained === true && turn.logprobs?.some((logprob) => logprob !== null) === true;

interface WrittenToken {
  readonly id: number;
  /** NaN: unknown. Null: the token is context, between what the model writes. */
  readonly logprob: number | null;
}

interface TrainedTurn {
  readonly prompt: readonly number[];
  readonly tokens: readonly WrittenToken[];
}

interface Building {
  readonly tokens: number[];
  /** Null: context. NaN: trained, its sampling log-probability unknown. */
  readonly sampled: (number | null)[];
  /** `from`: its first trained token. */
  readonly turns: (Omit<TrainedRun, 'length'> & { readonly from: number })[];
}

const isTrained = (logprob: number | null): boolean => logprob !== null;

const goesOn = ({ tokens }: Building, { prompt }: TrainedTurn): boolean =>
  tokens.every((token, i) => token === prompt[i]);

function addTurn(open: Building, { prompt, tokens }: TrainedTurn, turn: Turn): void {
  for (const id of prompt.slice(open.tokens.length)) {
    open.tokens.push(id);
    open.sampled.push(null);
  }
  const { policyStep = null, reward = null } = turn.kind === 'sampled' ? turn : {};
  open.turns.push({ from: open.tokens.length, policyStep, reward });
  for (const { id, logprob } of tokens) {
    open.tokens.push(id);
    open.sampled.push(logprob);
  }
}

const pack = (tokens: readonly number[], sampled: Building['sampled'], turns: Building['turns']): TokenSequence => ({
  tokens: Int32Array.from(tokens),
  trained: Uint8Array.from(sampled, (logprob) => (logprob === null ? 0 : 1)),
  logprobs: Float32Array.from(sampled, (logprob) => logprob ?? NaN),
  runs: turns.flatMap(({ from, ...turn }, i) => {
    const own = sampled.slice(Math.max(1, from), turns[i + 1]?.from); // nothing precedes the first token of a sequence
    const length = own.filter(isTrained).length;
    return length > 0 ? [{ length, ...turn }] : [];
  }),
});

/** Null: the turn is only context. */
function readTurn(
  turn: Turn,
  given: readonly number[] | null,
  before: readonly ChatMessage[],
  tools: History['tools'],
  encoder: ConversationEncoder,
  trainsText: boolean,
): TrainedTurn | TokenProblem | null {
  if (given && !given.every((id) => isKnown(id, encoder))) return 'unknown_tokens';
  if (turn.kind === 'sampled' && turn.tokens !== null) {
    const tokens = sampledTokens(turn.tokens, turn.logprobs, encoder);
    if (typeof tokens === 'string') return tokens;
    return { prompt: given ?? encoder.encode(encoder.renderPrompt(before, { tools })), tokens };
  }
  if (turn.message.role !== 'assistant' || !trainsText) return null;
  return writtenTurn([...before, turn.message], tools, given, encoder);
}

function sampledTokens(
  tokens: NonNullable<SampledTurn['tokens']>,
  logprobs: SampledTurn['logprobs'],
  encoder: ConversationEncoder,
): WrittenToken[] | TokenProblem {
  if (logprobs && logprobs.length !== tokens.length) return 'logprob_count_mismatch';
  const ids = tokens.map((token) => (typeof token === 'number' ? token : encoder.findToken(token)));
  if (!ids.every((id) => isKnown(id, encoder))) return 'unknown_tokens';
  return ids.map((id, i) => ({ id, logprob: logprobs?.[i] ?? NaN }));
}

const isKnown = (id: number | null, { vocabSize }: ConversationEncoder): id is number =>
  id !== null && Number.isInteger(id) && id >= 0 && id < vocabSize;

/** What the template makes of the last turn, in the tokens of the whole conversation. `given`: the ids of its prompt if the client sent them. */
function writtenTurn(
  messages: readonly ChatMessage[],
  tools: History['tools'],
  given: readonly number[] | null,
  encoder: ConversationEncoder,
): TrainedTurn | null {
  const turn = findWrittenTurn(messages, messages.length - 1, { tools }, encoder, 'after the prompt');
  if (turn === null) return null;
  const { text, from, runs } = turn;
  const { ids, find } = encoder.encodeText(text);
  const written = find(from, text.length);
  const trained = runs.map((run) => find(run.from, run.to));
  const tokens = ids.slice(written.first, written.end).map((id, i) => {
    const at = written.first + i;
    return { id, logprob: trained.some(({ first, end }) => at >= first && at < end) ? NaN : null };
  });
  const stop = appendedStop(turn, encoder).map((id) => ({ id, logprob: NaN }));
  return { prompt: given ?? ids.slice(0, written.first), tokens: [...tokens, ...stop] };
}
