// A GenerationStream whose events come from a call to a remote engine. If the reader stops choices, leaves or does not read, the
// call is told so, even if it is made only later.
import { createGenerationStream } from '../generation-stream.ts';
import type { GenerateRequest, GenerationStream, TokenEvent } from '../inference-engine.ts';
import type { GenerationControl } from './inference-procedures.ts';
import type { RunningCall } from './rpc-client.ts';

/** A stream that is not read here is then reported to the other end as unread; that end's own deadline starts then. */
const UNREAD_MS = 250;

export interface RunningGeneration {
  /** Aborted when the reader has left, or by `abandon`. */
  readonly signal: AbortSignal;
  push(this: void, events: readonly TokenEvent[]): void;
  /** Call this once the call has been made: the called end then learns of choices cancelled so far and from now on. */
  follow(call: Pick<RunningCall<null, GenerationControl>, 'tell'>): void;
  /** Ends the stream with this error, and aborts the call. */
  abandon(error: Error): void;
}

/** `run` makes the call and resolves when it has ended; an error that it throws ends the stream. */
export function streamGeneration(
  { n }: Pick<GenerateRequest, 'n'>,
  signal: AbortSignal,
  run: (running: RunningGeneration) => Promise<void>,
): GenerationStream {
  const controller = new AbortController();
  const cancelled = new Set<number>();
  let tell: (control: GenerationControl) => void = () => {};
  const output = createGenerationStream({
    n,
    signal,
    onCancelChoice: (choiceIndex) => {
      cancelled.add(choiceIndex);
      tell(choiceIndex);
    },
    onLeave: () => controller.abort(),
    unread: { afterMs: UNREAD_MS, onChange: (isUnread) => tell({ isUnread }) },
  });
  const running: RunningGeneration = {
    signal: controller.signal,
    push: (events) => output.push(events),
    follow(call) {
      tell = (control) => call.tell(control);
      for (const choiceIndex of cancelled) tell(choiceIndex);
    },
    abandon(error) {
      output.fail(error);
      controller.abort();
    },
  };
  run(running).catch((error: unknown) => output.fail(error));
  return output.stream;
}
