// One choice of a chat answer: token events in; text, reasoning and tool calls out, cut at stop strings, with the finish reason.
// Finish and stop reasons are vLLM's: the primary end-of-sequence token gives no stop_reason, other stop tokens give their id, a stop
// string gives itself, a parsed call gives `tool_calls`. Streams and whole answers use the same deltas.
import { randomBytes } from 'node:crypto';
import type { ToolDefinition } from '#domain/chat';
import type { FinishReason } from '#domain/sampling';
import type { TokenEvent } from '#engine/inference-engine';
import { createDetokenizer } from '#text/detokenizer';
import type { ReasoningSyntax } from '#text/reasoning-parser';
import { createCallsInThinking } from '#text/reasoning-parser/calls-in-thinking';
import type { ReasoningParser, ThinkingState } from '#text/reasoning-parser/reasoned-text';
import { createStopMatcher } from '#text/stop';
import type { Tokenizer } from '#text/tokenizer';
import type { ToolSyntax } from '#text/tool-parser';
import type { ToolDelta } from '#text/tool-parser/tool-delta';
import type { SamplingOptions } from './chat-request.ts';

export interface Finish {
  readonly reason: FinishReason;
  readonly stopReason: string | number | null;
}

/** A piece of a call: the first has id and name, later ones continue the JSON text of the arguments. */
export interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

export interface TextDelta {
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCallDelta[];
  /** Whether its token was sampled within the reasoning, or began or ended it; what text it completed does not say: much is held back. */
  readonly thinking: 'within' | 'edge' | null;
  /** The token belongs to reasoning that the client asked not to see. */
  readonly hidden: boolean;
  readonly finish: Finish | null;
}

export interface ChoiceTextOptions {
  readonly stops: readonly string[];
  /** Include the stop string, or the text of the stop token, in the answer. */
  readonly includeStop: boolean;
  /** Stop strings count only after this many tokens. */
  readonly minTokens: number;
  readonly skipSpecialTokens: boolean;
  /** The token that ends an answer without a stop reason. */
  readonly primaryEos: number | null;
  /** Null: reasoning is not separated from text. */
  readonly reasoning: {
    readonly syntax: ReasoningSyntax;
    readonly state: ThinkingState;
    readonly include: boolean;
  } | null;
  /** Null: the text is not parsed for calls. */
  readonly tools: {
    readonly syntax: ToolSyntax;
    readonly definitions: readonly ToolDefinition[];
    readonly parallel: boolean;
    /** A constraint forces the calls. */
    readonly isForced: boolean;
    /** No constraint says how calls are written. */
    readonly areFree: boolean;
    readonly finishes: boolean;
  } | null;
}

/** Null: none. With ignore_eos it ends an answer only as one of the client's own stop tokens, and is named as they are. */
export const primaryEos = (
  { ignoreEos }: Pick<SamplingOptions, 'ignoreEos'>,
  eosTokenIds: readonly number[],
): number | null => (ignoreEos ? null : (eosTokenIds[0] ?? null));

export interface ChoiceText {
  /** Returns what can be shown now; holds back text that may turn out to be part of a stop string or a tag. */
  push(event: TokenEvent): TextDelta;
  /** No token can follow: returns what was held back. */
  endDead(): TextDelta;
}

export function createChoiceText(tokenizer: Tokenizer, options: ChoiceTextOptions): ChoiceText {
  const { includeStop, minTokens } = options;
  const detokenizer = createDetokenizer(tokenizer, {
    skipSpecialTokens: options.skipSpecialTokens,
    keep: markerTokens(tokenizer, options),
  });
  const matcher = createStopMatcher(options.stops, { include: includeStop });
  const parts = createParts(options);
  let count = 0;

  /** The text of this token, cut at a stop string. */
  function readText({ tokenId, finishReason }: TokenEvent): { text: string; matched: string | null } {
    // A stop token ends the text; it is included only on request, whether or not the tokenizer calls it special.
    const pushed = finishReason === 'stop' && !includeStop ? '' : detokenizer.push(tokenId);
    const piece = finishReason === null ? pushed : pushed + detokenizer.flush();
    return ++count <= minTokens ? { text: matcher.pass(piece), matched: null } : matcher.push(piece);
  }

  return {
    push(event) {
      const wasThinking = parts.thinking;
      const { text, matched } = readText(event);
      const ended = matched !== null || event.finishReason !== null;
      const rest = ended && matched === null ? matcher.flush() : '';
      const read = parts.read(text + rest, !ended ? null : event.finishReason === 'length' ? 'cut off' : 'stopped');
      const finish = ended ? finishOf(event, matched) : null;
      const thinking = wasThinking && parts.thinking ? 'within' : wasThinking || parts.thinking ? 'edge' : null;
      return { ...read, thinking, hidden: thinking !== null && options.reasoning?.include === false, finish };
    },
    endDead() {
      const rest = matcher.push(detokenizer.flush());
      const read = parts.read(rest.text + matcher.flush(), 'cut off');
      return { ...read, thinking: null, hidden: false, finish: { reason: 'cancelled', stopReason: 'dead_end' } };
    },
  };

  function finishOf({ finishReason, tokenId }: TokenEvent, matched: string | null): Finish {
    const stopReason = matched ?? (finishReason === 'stop' && tokenId !== options.primaryEos ? tokenId : null);
    const reason = matched !== null ? 'stop' : finishReason!;
    const called = options.tools?.finishes === true && parts.callCount > 0 && reason === 'stop';
    return { reason: called ? 'tool_calls' : reason, stopReason };
  }
}

/** How an answer ended: the model or a stop string ended it, or tokens ran out; null: it goes on. */
type End = 'stopped' | 'cut off' | null;

/** Most tokens have none. */
const NO_CALLS: readonly ToolCallDelta[] = [];

/** Separates reasoning first, then calls in the rest. */
function createParts({ reasoning, tools }: ChoiceTextOptions) {
  const thinker = createThinker(reasoning, tools);
  const toolParser = tools && tools.syntax.createParser(tools.definitions, tools.isForced);
  let callCount = 0;

  function readTools(text: string, end: End): { content: string; toolCalls: readonly ToolCallDelta[] } {
    if (!toolParser) return { content: text, toolCalls: NO_CALLS };
    const deltas = [...toolParser.push(text), ...(end === null ? [] : toolParser.flush(end === 'stopped'))];
    if (deltas.length === 0) return { content: '', toolCalls: NO_CALLS };
    const content = deltas.map((delta) => (delta.kind === 'content' ? delta.text : '')).join('');
    const toolCalls = onePiece(deltas.flatMap(toolCall).filter(({ index }) => tools.parallel || index === 0));
    return { content, toolCalls };
  }

  function toolCall(delta: ToolDelta): ToolCallDelta[] {
    if (delta.kind === 'content') return [];
    if (delta.kind === 'arguments') return [{ index: delta.index, arguments: delta.text }];
    callCount++;
    return [{ index: delta.index, id: newCallId(tools!.syntax), name: delta.name, arguments: '' }];
  }

  return {
    get thinking() {
      return thinker?.thinking ?? false;
    },
    get callCount() {
      return callCount;
    },
    read(text: string, end: End) {
      if (!thinker) return { reasoning: '', ...readTools(text, end) };
      const pushed = thinker.push(text);
      const flushed = end === null ? { reasoning: '', content: '' } : thinker.flush(end === 'stopped');
      const thought = reasoning!.include ? pushed.reasoning + flushed.reasoning : '';
      return { reasoning: thought, ...readTools(pushed.content + flushed.content, end) };
    },
  };
}

/** What one token brings of a call is one piece: openai-python before 3 takes two of one index for two calls. */
function onePiece(pieces: readonly ToolCallDelta[]): ToolCallDelta[] {
  const joined: ToolCallDelta[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last?.index !== piece.index) joined.push(piece);
    else joined[joined.length - 1] = { ...last, arguments: (last.arguments ?? '') + (piece.arguments ?? '') };
  }
  return joined;
}

function createThinker(
  reasoning: ChoiceTextOptions['reasoning'],
  tools: ChoiceTextOptions['tools'],
): ReasoningParser | null {
  const thinker = reasoning && reasoning.syntax.createParser(reasoning.state);
  if (!thinker || tools?.areFree !== true) return thinker;
  const { syntax, definitions } = tools;
  return createCallsInThinking(thinker, { opens: syntax.opens, newParser: () => syntax.createParser(definitions) });
}

const newCallId = ({ callIds }: ToolSyntax): string =>
  callIds === 'nine' ? randomBytes(5).toString('hex').slice(0, 9) : `chatcmpl-tool-${randomBytes(8).toString('hex')}`;

/** Special tokens that mark reasoning and calls. */
function markerTokens(tokenizer: Tokenizer, { reasoning, tools }: ChoiceTextOptions): ReadonlySet<number> {
  const texts = [...(reasoning?.syntax.markers ?? []), ...(tools?.syntax.markers ?? [])];
  return new Set(texts.map((text) => tokenizer.tokenId(text)).filter((id) => id !== null));
}
