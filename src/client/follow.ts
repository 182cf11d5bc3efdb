// Follows a job to its end: its events as they arrive, its progress, and its result. Retries until the deadline after a lost
// connection, while a server restarts, and after 429 and 5xx; nothing else in the client polls.
import { AnswerError, isObject, parseAnswer, visible } from './answers.ts';
import { chunksOf } from './chunks.ts';
import type { Http } from './http.ts';
import { insist, isRefusal, pause, pauseBefore, reportReopened, type OnConnection } from './retry.ts';
import { readServerSentEvents } from './sse-reader.ts';
import type { Evaluation, TrainingEvent, TrainingJob, WaitingFor } from './wire.ts';

/** The job ended with the event `training_failed`. */
export class TrainingFailedError extends Error {
  override readonly name = 'TrainingFailedError';
}

export interface TrainingProgress {
  /** Completed gradient steps, and their total number. */
  readonly done: number;
  readonly total: number;
  /** Metrics of the last gradient step: loss, entropy, … */
  readonly metrics: Readonly<Record<string, number>>;
}

export interface WaitOptions {
  /** Default: one hour. After it a TimeoutError is thrown; the job continues. */
  readonly deadlineMs?: number;
  /** Stops waiting; the job continues. */
  readonly signal?: AbortSignal;
}

export interface FollowOptions extends WaitOptions {
  readonly onEvent?: (event: TrainingEvent) => void;
  readonly onProgress?: (progress: TrainingProgress) => void;
  /** Called when the job waits behind another one, or for a trainer. */
  readonly onWaiting?: (waitingFor: WaitingFor) => void;
  /** Called with warnings of the server, for example that nothing could be trained. Default: console.warn. */
  readonly onWarning?: (warning: string) => void;
  readonly onConnection?: OnConnection;
}

const DEFAULT_WAIT_MS = 3_600_000;
const LOOK_AGAIN_MS = 250; // evaluations have no event stream
const LOOK_AGAIN_MS_MAX = 2_000;

export function within({ deadlineMs = DEFAULT_WAIT_MS, signal }: WaitOptions): AbortSignal {
  const deadline = AbortSignal.timeout(deadlineMs);
  return signal ? AbortSignal.any([signal, deadline]) : deadline;
}

/** Opens the stream of events after `lastId`. */
export type OpenEvents = (lastId: string | null) => Promise<ReadableStream<Uint8Array>>;

/** Yields all events from the first on; continues after a lost connection. Ends with the job. */
export async function* followEvents<E extends { readonly type: string; readonly data: unknown }>(
  open: OpenEvents,
  signal: AbortSignal,
  onConnection: OnConnection = () => {},
): AsyncGenerator<E> {
  let lastId: string | null = null;
  for (let attempt = 1; ; attempt++) {
    let lost: unknown = null;
    const stream: ReadableStream<Uint8Array> | null = await open(lastId).catch((error: unknown) => {
      lost = error;
      return null;
    });
    if (stream && attempt > 1) await reportReopened(stream, onConnection);
    try {
      if (!stream) throw lost;
      for await (const { id, data } of readServerSentEvents(chunksOf(stream))) {
        if (id === null) continue; // the server reports an error: the loop opens the stream again
        const event = parseAnswer<E>(data);
        if (typeof event.type !== 'string' || !isObject(event.data))
          throw new AnswerError(`The event ${id.slice(0, 100)} of the job has no type or no data.`);
        [lastId, attempt] = [id, 1];
        yield event;
        if (event.type === 'training_ended' || event.type === 'training_failed') return;
      }
    } catch (error) {
      if (isRefusal(error)) throw error;
      lost = error;
    }
    signal.throwIfAborted();
    onConnection(lost ?? new Error('the stream of events ended before the job did'));
    await pauseBefore(attempt, lost, signal);
  }
}

/** Resolves when the new checkpoint can be called. Throws TrainingFailedError, or TimeoutError after the deadline. */
export async function follow(
  { call }: Pick<Http, 'call'>,
  path: string,
  events: AsyncIterable<TrainingEvent>,
  { onEvent, onProgress, onWaiting, onWarning = warn, onConnection }: FollowOptions,
  signal: AbortSignal,
): Promise<TrainingJob> {
  let total = 0;
  for await (const event of events) {
    onEvent?.(event);
    for (const warning of warningsOf(event)) onWarning(warning);
    if (event.type === 'training_started') total = event.data.num_gradient_steps ?? event.data.num_sequences ?? 0;
    if (event.type === 'gradient_step') {
      const { gradient_step: done = 0, ...metrics } = event.data;
      onProgress?.({ done, total, metrics });
    }
    if (event.type === 'training_waiting') onWaiting?.(event.data.waiting_for);
    if (event.type === 'training_failed')
      throw new TrainingFailedError(visible(event.data.error_message ?? 'training failed'));
  }
  return insist(() => call('GET', path, { signal }), signal, onConnection);
}

/** Warnings from before training, and about what it measured. */
const warningsOf = ({ data }: TrainingEvent): readonly string[] =>
  'warnings' in data && Array.isArray(data.warnings) ? data.warnings.map(String) : [];

// oxlint-disable-next-line no-console -- warnings must be visible by default; callers that log them pass onWarning
const warn = (warning: string): void => console.warn(`whetstone: ${visible(warning)}`);

/** Resolves when the job's checkpoint has answered its held-out prompts. Null: the job has none. */
export async function waitForEvaluation(
  { call }: Pick<Http, 'call'>,
  path: string,
  signal: AbortSignal,
): Promise<Evaluation | null> {
  for (let attempt = 1; ; attempt++) {
    const { evaluation = null } = await insist(() => call<TrainingJob>('GET', path, { signal }), signal);
    if (evaluation?.status !== 'queued' && evaluation?.status !== 'running') return evaluation;
    await pause(Math.min(LOOK_AGAIN_MS_MAX, LOOK_AGAIN_MS * attempt), signal);
  }
}
