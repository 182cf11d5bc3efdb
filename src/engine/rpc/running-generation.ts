// A GenerationStream whose events come from a call to an engine somewhere else: choices that the reader has stopped, and a reader who
// has left or does not read, reach that call whenever it is made.
import { createGenerationStream } from '../generation-stream.ts';
import type { GenerateRequest, GenerationStream, TokenEvent } from '../inference-engine.ts';
import type { ToldGeneration } from './inference-procedures.ts';
import type { RunningCall } from './rpc-client.ts';

/** What nobody reads here is not read at the other end either, whose own deadline begins then. */
const UNREAD_MS = 250;

export interface RunningGeneration {
  /** Aborted when the reader has left, or by `abandon`. */
  readonly signal: AbortSignal;
  push(this: void, events: readonly TokenEvent[]): void;
  /** The call has been made: from now on it hears which choices nobody wants any more. */
  follow(call: Pick<RunningCall<null, ToldGeneration>, 'tell'>): void;
  /** Ends the stream with this error, and the call. */
  abandon(error: Error): void;
}

/** `run` makes the call and resolves when it has ended; what it throws ends the stream. */
export function streamGeneration(
  { n }: Pick<GenerateRequest, 'n'>,
  signal: AbortSignal,
  run: (running: RunningGeneration) => Promise<void>,
): GenerationStream {
  const controller = new AbortController();
  const cancelled = new Set<number>();
  let tell: (told: ToldGeneration) => void = () => {};
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
      tell = (told) => call.tell(told);
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
