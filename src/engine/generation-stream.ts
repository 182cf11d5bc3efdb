// The stream that a caller of generate() reads, and the end that an engine writes. Keeps the promises of GenerationStream
// in one place for every engine: no event after a cancelled choice, an end when all choices have ended, and one call of
// `onLeave` when the reader leaves early. The buffer holds at most n · maxTokens events; the engine is told when the stream is not read.
import { AppError } from '#domain/errors';
import type { GenerationStream, TokenEvent } from './inference-engine.ts';
import { watchReader } from './read-watch.ts';

export interface GenerationSource {
  readonly stream: GenerationStream;
  push(events: readonly TokenEvent[]): void;
  /** Reported to the reader after the events before it. Must be the last call. */
  fail(error: unknown): void;
}

export interface StreamOptions {
  readonly n: number;
  readonly signal: AbortSignal;
  /** The reader stopped one choice; others may continue. */
  readonly onCancelChoice: (choiceIndex: number) => void;
  /** The reader left, or the signal was aborted, before the end. */
  readonly onLeave: () => void;
  /** True: events have waited for a reader for `afterMs`. False: they are being read again, or no more will come. */
  readonly unread: { readonly afterMs: number; readonly onChange: (isUnread: boolean) => void };
}

export function createGenerationStream({
  n,
  signal,
  onCancelChoice,
  onLeave,
  unread,
}: StreamOptions): GenerationSource {
  const closedChoices = new Set<number>();
  let buffer: TokenEvent[] = [];
  let read = 0;
  let failure: { error: unknown } | null = null;
  let ended = false;
  let wake: (() => void) | null = null;

  const reader = watchReader({ ...unread, isBehind: () => wake === null && read < buffer.length });
  const notify = () => {
    wake?.();
    wake = null;
  };
  const finish = () => {
    ended = true;
    reader.close();
    signal.removeEventListener('abort', onAbort);
    notify();
  };
  const fail = (error: unknown) => {
    if (ended) return;
    failure = { error };
    finish();
  };
  const leave = () => {
    if (ended) return;
    finish();
    onLeave();
  };
  function onAbort(): void {
    if (ended) return;
    buffer = [];
    read = 0;
    fail(new AppError('cancelled', 'The request was cancelled.', { cause: signal.reason }));
    onLeave();
  }
  signal.addEventListener('abort', onAbort, { once: true });

  async function* iterate(): AsyncGenerator<TokenEvent, void, undefined> {
    try {
      for (;;) {
        while (read < buffer.length) {
          yield buffer[read++]!;
          reader.taken();
        }
        buffer = [];
        read = 0;
        if (failure) throw failure.error;
        if (ended) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      leave();
    }
  }
  const iterator = iterate();
  if (signal.aborted) onAbort();

  return {
    stream: {
      [Symbol.asyncIterator]: () => iterator,
      cancelChoice(choiceIndex) {
        buffer = buffer.slice(read).filter((event) => event.choiceIndex !== choiceIndex);
        read = 0;
        if (closedChoices.has(choiceIndex)) return;
        closedChoices.add(choiceIndex);
        onCancelChoice(choiceIndex);
        if (closedChoices.size === n && !ended) finish();
      },
    },
    push(events) {
      if (ended) return;
      for (const event of events) {
        if (closedChoices.has(event.choiceIndex)) continue;
        buffer.push(event);
        if (event.finishReason !== null) closedChoices.add(event.choiceIndex);
      }
      if (closedChoices.size === n) return finish();
      reader.offered();
      notify();
    },
    fail,
  };
}
