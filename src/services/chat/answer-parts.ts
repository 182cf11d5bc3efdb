// The deltas of a choice → its parts, in order: thinking, text, calls, each with a beginning, pieces and an end. For forms of
// answers that are lists of such parts (blocks, output items); whole answers are what the pieces add up to.
import type { TokenEvent } from '#engine/inference-engine';
import type { ChatDelta } from './answer.ts';

export type Part =
  | { readonly kind: 'thinking' | 'text'; readonly text: string; readonly tokens: readonly TokenEvent[] }
  /** `text`: the arguments, as the model wrote them: JSON, unless it was cut off. */
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly text: string };

export type PartEvent =
  /** The part is empty so far. */
  | { readonly kind: 'begin'; readonly index: number; readonly part: Part }
  /** `tokens`: those that the piece, and what was held back before it, was made of. */
  | {
      readonly kind: 'piece';
      readonly index: number;
      readonly part: Part;
      readonly text: string;
      readonly tokens: readonly TokenEvent[];
    }
  | { readonly kind: 'end'; readonly index: number; readonly part: Part };

export interface PartReader {
  /** The last delta has the choice's finish, and ends what is open. */
  push(delta: ChatDelta): PartEvent[];
}

export function createPartReader(): PartReader {
  let open: Part | null = null;
  let index = -1;
  let waiting: TokenEvent[] = []; // brought no text yet
  let own: TokenEvent[] = []; // of the open part; grows in place: a part may have very many

  function end(): PartEvent[] {
    if (open === null) return [];
    const part = open;
    open = null;
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
    own.push(...tokens);
    open = { ...open!, text: open!.text + text };
    return [{ kind: 'piece', index, part: open, text, tokens }];
  }

  const inPart = (kind: 'thinking' | 'text', text: string): PartEvent[] =>
    text === '' ? [] : [...(open?.kind === kind ? [] : begin({ kind, text: '', tokens: (own = []) })), ...add(text)];

  return {
    push({ token, content, reasoning, toolCalls, finish }) {
      if (token) waiting.push(token);
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
