// One attempt at one background response: an ordinary chat request whose events are collected and can be followed. A writer defines the
// answer's form.
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
  /** Retries while an engine is away, a queue is full, a limit is reached, or the storage cannot work. */
  readonly retryPolicy: RetryPolicy;
}

export interface AttemptContext {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Followers of the response see its events here. */
  readonly live: LiveResponse;
}

export type Ending = Pick<ResponseEnd, 'status' | 'blob' | 'error'> & {
  /** The last event, not shown before the row says that the response has ended. Null: there is none. */
  readonly last: ResponseEvent | null;
};

/** A request that crashes its server must not do so forever. */
const ATTEMPTS_MAX = 3;

/** Returns the final response, which is already stored; throws if the signal, a deletion, or the storage ends it. */
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
    return failed(
      'attempts_exhausted',
      `The server stopped ${ATTEMPTS_MAX} times while it generated this response. Send the request again.`,
    );
  }
  const content = await retrying(() => findContent(blobs, row));
  if (!content?.work) throw new AppError('not_found', `The response ${id} was deleted.`);
  const { request, head } = content.work;
  const events = content.events && live.events;
  events?.push(...content.events!);
  live.changes.changed();
  let last: ResponseEvent | null = null;
  try {
    const caller = await retrying(() => findStoredCaller(storage, { entity, keyId }));
    const answer = await retrying(() => chat.start({ caller, project, requestId: id, signal, answerId: id }, request));
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
  // Regardless of rate limits: it was accepted, and max_output_tokens bounds it.
  await retrying(() => storage.accounts.addBlob({ blob, entity, keyId, sizeBytes }));
  return { status: response.status, blob, error: null, last };
}

const isPassing = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === 'too_many_requests' || error.code === 'engine_unavailable');
