// One conversation with one checkpoint: its messages, and the answer that is arriving. Two conversations can run side by side.
import { useEffect, useRef, useState } from 'preact/hooks';
import { readServerSentEvents } from '../../../src/client/sse-reader.ts';
import { chunksOf } from '../../../src/client/chunks.ts';
import { send } from '../api/client.ts';
import { addChunk, messageOf, NO_ANSWER, type Answer, type Chunk } from './answer.ts';

export interface Said {
  readonly kind: 'said';
  readonly message: Readonly<Record<string, unknown>>;
}

export interface Answered {
  readonly kind: 'answered';
  readonly model: string;
  readonly answer: Answer;
  readonly state: 'coming' | 'whole' | 'stopped' | 'failed';
  readonly error: unknown;
  /** Milliseconds from the question to the first token, and so far. */
  readonly firstMs: number | null;
  readonly totalMs: number;
}

export type Turn = Said | Answered;

export interface Lane {
  readonly turns: readonly Turn[];
  readonly isBusy: boolean;
  /** `request`: without messages. */
  ask(system: string, role: string, text: string, request: Readonly<Record<string, unknown>>): void;
  stop(): void;
  clear(): void;
}

export function useLane(): Lane {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const stopper = useRef<AbortController | null>(null);
  useEffect(() => () => stopper.current?.abort(), []);
  const last = turns.at(-1);
  return {
    turns,
    isBusy: last?.kind === 'answered' && last.state === 'coming',
    ask(system, role, text, request) {
      const asked: readonly Turn[] = [...turns, { kind: 'said', message: messageFrom(role, text, turns) }];
      const stop = new AbortController();
      stopper.current?.abort();
      stopper.current = stop;
      const show = (answered: Answered) => void (stopper.current === stop && setTurns([...asked, answered]));
      void answerTo({ ...request, messages: messagesOf(system, asked) }, stop.signal, show);
    },
    stop: () => stopper.current?.abort(),
    clear() {
      stopper.current?.abort();
      stopper.current = null;
      setTurns([]);
    },
  };
}

/** As a request contains them. A turn that failed is left out. */
export function messagesOf(system: string, turns: readonly Turn[]): unknown[] {
  const said = turns.flatMap((turn) => {
    if (turn.kind === 'said') return [turn.message];
    const [first] = turn.answer.choices;
    return first ? [messageOf(first)] : [];
  });
  return system.trim() === '' ? said : [{ role: 'system', content: system }, ...said];
}

/** A tool's result answers the first call that has no result yet. */
function messageFrom(role: string, content: string, turns: readonly Turn[]): Said['message'] {
  if (role !== 'tool') return { role, content };
  const answered = new Set(turns.flatMap((turn) => (turn.kind === 'said' ? [turn.message['tool_call_id']] : [])));
  const calls = turns.flatMap((turn) => (turn.kind === 'answered' ? (turn.answer.choices[0]?.calls ?? []) : []));
  return { role, content, tool_call_id: calls.find(({ id }) => !answered.has(id))?.id ?? '' };
}

/** Draws at most once per frame: a fast model produces hundreds of tokens per second. */
async function answerTo(
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  show: (answered: Answered) => void,
): Promise<void> {
  const beganMs = performance.now();
  let answer = NO_ANSWER;
  let firstMs: number | null = null;
  let frame = 0;
  const now = (state: Answered['state'], error: unknown = null): Answered => {
    cancelAnimationFrame(frame);
    frame = 0;
    const totalMs = performance.now() - beganMs;
    return { kind: 'answered', model: String(body['model']), answer, state, error, firstMs, totalMs };
  };
  show(now('coming'));
  try {
    const response = await send('post', '/v1/chat/completions', { body, signal });
    for await (const { data } of readServerSentEvents(chunksOf(response.body!))) {
      if (data === '[DONE]') break;
      answer = addChunk(answer, JSON.parse(data) as Chunk);
      if (answer.choices.length > 0) firstMs ??= performance.now() - beganMs;
      if (frame === 0) frame = requestAnimationFrame(() => show(now('coming')));
    }
    show(now('whole'));
  } catch (error) {
    show(signal.aborted ? now('stopped') : now('failed', error));
  }
}
