// Turns the deltas of a choice into its parts, in order: reasoning, text, calls, each with a start, pieces and an end. For answer formats
// that are lists of parts (content blocks, output items); joining the pieces gives the complete answer.
import type { ChatDelta } from './answer.ts';
import { createCollectedTokens, type CollectedTokens, type SampledToken } from './collected-tokens.ts';

export type Part =
  /** `tokens`: of its text; empty until it ends. */
  | { readonly kind: 'thinking' | 'text'; readonly text: string; readonly tokens: CollectedTokens }
  /** `text`: the arguments as the model wrote them: JSON, unless the answer was cut off. */
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly text: string };

export type PartEvent =
  /** The part has just begun and is empty. */
  | { readonly kind: 'begin'; readonly index: number; readonly part: Part }
  /** `tokens`: the tokens of this piece, including earlier ones whose text was held back. */
  | {
      readonly kind: 'piece';
      readonly index: number;
      readonly part: Part;
      readonly text: string;
      readonly tokens: readonly SampledToken[];
    }
  | { readonly kind: 'end'; readonly index: number; readonly part: Part };

export interface PartReader {
  /** The last delta carries the choice's finish, and ends the open part. */
  push(delta: ChatDelta): PartEvent[];
}

const NO_TOKENS = createCollectedTokens();

/** `keepsTokens`: parts of text have their tokens. Otherwise only pieces have. */
export function createPartReader({ keepsTokens }: { readonly keepsTokens: boolean }): PartReader {
  let open: Part | null = null;
  let index = -1;
  let waiting: SampledToken[] = []; // have produced no text yet
  let own = createCollectedTokens(); // of the open part

  function end(): PartEvent[] {
    if (open === null) return [];
    const part = open.kind === 'call' ? open : { ...open, tokens: own };
    open = null;
    own = createCollectedTokens();
    return [{ kind: 'end', index, part }];
  }

  function begin(part: Part): PartEvent[] {
    const events = end();
    open = part;
    return [...events, { kind: 'begin', index: ++index, part }];
  }

  function add(text: string): PartEvent[] {
    const tokens = open!.kind === 'text' ? waiting : [];
    waiting = [];
    if (text === '' && tokens.length === 0) return [];
    if (keepsTokens) for (const token of tokens) own.push(token);
    open = { ...open!, text: open!.text + text };
    return [{ kind: 'piece', index, part: open, text, tokens }];
  }

  function inPart(kind: 'thinking' | 'text', text: string): PartEvent[] {
    if (text === '') return [];
    const events = open?.kind === kind ? [] : begin({ kind, text: '', tokens: NO_TOKENS });
    return [...events, ...add(text)];
  }

  return {
    push({ token, content, reasoning, toolCalls, thinking, finish }) {
      if (token && (thinking === null || content !== '')) waiting.push(token);
      const events = [...inPart('thinking', reasoning), ...inPart('text', content)];
      for (const { id, name, arguments: text = '' } of toolCalls) {
        if (id !== undefined) events.push(...begin({ kind: 'call', id, name: name!, text: '' }));
        events.push(...add(text));
      }
      if (finish && open?.kind === 'text') events.push(...add(''));
      if (finish) events.push(...end());
      return events;
    },
  };
}
