// One attempt at one response of the background: a chat request like any other, whose events are collected and can be followed. What
// the answer looks like is the writer's.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { responseBlob } from '#domain/blob-names';
import { AppError, publicError } from '#domain/errors';
import type { StoredResponse } from '#domain/stored-response';
import type { BlobStore } from '#storage/blobs';
import type { ResponseEnd } from '#storage/response-store';
import type { Storage } from '#storage/storage';
import { findStoredCaller } from '../accounts/stored-caller.ts';
import type { Chat } from '../chat/chat.ts';
import { withRetries, type RetryPolicy } from '../retry-policy.ts';
import type { LiveResponse } from './live-responses.ts';
import { findContent, sealContent, type ResponseEvent, type ResponseWriter } from './response-content.ts';

export interface AnswerResponseDeps {
  readonly storage: Pick<Storage, 'apiKeys' | 'accounts' | 'responses'>;
  readonly blobs: BlobStore;
  readonly chat: Pick<Chat, 'start'>;
  readonly writer: ResponseWriter;
  readonly clock: Clock;
  /** With an engine that is away, a full queue, a limit that is reached, a storage that cannot work. */
  readonly retryPolicy: RetryPolicy;
}

export interface AttemptContext {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Whoever follows the response sees its events here. */
  readonly live: LiveResponse;
}

export type Ending = Pick<ResponseEnd, 'status' | 'blob' | 'error'> & {
  /** Not shown before the row says that it is over. Null: there is none. */
  readonly last: ResponseEvent | null;
};

/** A request that kills its server must not do so for ever. */
const ATTEMPTS_MAX = 3;

/** What the response ends with, which is stored already; throws what the signal, a deletion, or the storage end it with. */
export async function answerResponse(
  row: StoredResponse,
  { storage, blobs, chat, writer, clock, retryPolicy }: AnswerResponseDeps,
  { log, signal, live }: AttemptContext,
): Promise<Ending> {
  const { id, attempt, entity, keyId, project, blob: asked } = row;
  const retrying = <T>(work: () => Promise<T>): Promise<T> => withRetries(work, retryPolicy, log, signal, isPassing);
  const failed = (code: string, message: string): Ending => ({
    status: 'failed',
    blob: asked,
    error: { code, message },
    last: null,
  });
  if (attempt > ATTEMPTS_MAX) {
    return failed('attempts_exhausted', `The server was lost ${ATTEMPTS_MAX} times while it answered this. Ask again.`);
  }
  const content = await retrying(() => findContent(blobs, row));
  if (!content?.work) throw new AppError('not_found', `The response ${id} is gone.`);
  const { request, head } = content.work;
  const events = content.events && live.events;
  events?.push(...content.events!);
  live.changes.changed();
  let last: ResponseEvent | null = null;
  try {
    const caller = await retrying(() => findStoredCaller(storage, { entity, keyId }));
    const answer = await retrying(() => chat.start({ caller, project, requestId: id, signal }, request));
    for await (const event of writer.events(head, answer, answer.deltas, () => clock.now())) {
      if (last) events?.push(last);
      if (last) live.changes.changed();
      last = event;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn('response.failed', { err: error });
    const { code, message } = publicError(error);
    return failed(code, message);
  }
  const { response } = last as ResponseEvent & { response: { status: ResponseEnd['status'] } };
  const blob = responseBlob(id, attempt);
  const answered = { ...content, response, events: events && [...events, last!], work: null };
  const { sizeBytes } = await retrying(() => blobs.put(blob, sealContent(answered)));
  // Whatever the limits: it was accepted, and max_output_tokens bounds it.
  await retrying(() => storage.accounts.addBlob({ blob, entity, keyId, sizeBytes }));
  return { status: response.status, blob, error: null, last };
}

const isPassing = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === 'too_many_requests' || error.code === 'engine_unavailable');
