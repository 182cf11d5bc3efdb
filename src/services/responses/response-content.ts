// The content of a stored response, in its blob: the conversation, the answer as clients read it, and until it is answered, what is
// needed to make it. Items, answers and events are in wire form; only their ids and statuses are interpreted here.
import { setImmediate } from 'node:timers/promises';
import { parseSentJson, stringifySentJson } from '#base/sent-json';
import { AppError, type ErrorCode } from '#domain/errors';
import type { StoredResponse } from '#domain/stored-response';
import type { BlobStore } from '#storage/blobs';
import type { ChatDelta, Answer } from '../chat/answer.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { openSealed, sealJson } from '../jobs/data/sealed-json.ts';
import type { Read } from '../shared-reads.ts';

export type WireObject = Readonly<Record<string, unknown>>;

export interface ResponseEvent extends WireObject {
  readonly type: string;
  readonly sequence_number: number;
}

export interface ResponseContent {
  /** Items that the model received: the earlier conversation, then those of the request. Each has an id. */
  readonly input: readonly WireObject[];
  /** The response as clients read it: id, status, output, … */
  readonly response: WireObject;
  /** Events by number. Null: it was not requested as a background stream. */
  readonly events: readonly ResponseEvent[] | null;
  /** What is needed to answer it. Null: nothing is left to do. */
  readonly work: {
    readonly request: ChatRequest;
    /** What the writer needs to know about the request. */
    readonly head: WireObject;
  } | null;
}

/** What clients may read of it. */
export interface ShownContent extends Omit<ResponseContent, 'work'> {
  readonly hasWork: boolean;
}

/** The wire form of background responses, which the API defines. */
export interface ResponseWriter {
  /** All events except the first, which were known when it was requested. The last one contains the whole response. */
  events(
    head: WireObject,
    answer: Answer,
    deltas: AsyncIterable<ChatDelta>,
    now: () => number,
  ): AsyncIterable<ResponseEvent>;
  /** The closing event of a response that has none of its own. */
  ending(response: WireObject, number: number): ResponseEvent;
}

/** As JSON text: values from clients stay as they were sent. */
export const sealContent = (content: ResponseContent): Uint8Array => sealJson(stringifySentJson(content));

type Place = Pick<StoredResponse, 'id' | 'blob'>;

/** Returns null if it was deleted meanwhile. Clients read all but the work, as JSON: integers beyond 2^53 are rounded there. */
export async function findContent(blobs: Pick<BlobStore, 'find'>, place: Place): Promise<ResponseContent | null> {
  const opened = await openContent(blobs, place);
  if (!opened) return null;
  const { text, turn } = opened;
  const shown = parseSentJson(text, 'rounded') as ResponseContent;
  if (shown.work === null) return shown;
  await turn();
  return { ...shown, work: (parseSentJson(text) as ResponseContent).work };
}

/** Null as above. */
export async function findShownContent(
  blobs: Pick<BlobStore, 'find'>,
  place: Place,
): Promise<Read<ShownContent> | null> {
  const opened = await openContent(blobs, place);
  if (!opened) return null;
  const { work, ...shown } = parseSentJson(opened.text, 'rounded') as ResponseContent;
  await opened.turn();
  return { value: { ...shown, hasWork: work !== null }, sizeBytes: opened.sizeBytes };
}

/** A content of this size takes a tenth of a second: other requests are served between the steps of reading it. */
const LONG_BYTES = 1_000_000;

async function openContent(blobs: Pick<BlobStore, 'find'>, { id, blob }: Place) {
  const bytes = await blobs.find(blob);
  if (bytes === null) return null;
  const turn = async () => void (bytes.length >= LONG_BYTES && (await setImmediate()));
  const body = openSealed(bytes);
  if (body === null)
    throw new AppError('damaged_data', `The stored content of response ${id} is damaged. Send the request again.`);
  await turn();
  const text = JSON.parse(body) as string;
  await turn();
  return { text, turn, sizeBytes: bytes.length };
}

/** Overwrites fields that the row knows better: it is written when the state changes. */
export const shownResponse = (
  { status, error }: StoredResponse,
  { response }: Pick<ResponseContent, 'response'>,
): WireObject => ({
  ...response,
  status,
  ...(error === null ? {} : { error: { code: shownCode(error.code), message: error.message } }),
});

/** OpenAI's clients know no others; what failed is in the message. */
function shownCode(code: string): string {
  if (code === 'too_many_requests') return 'rate_limit_exceeded';
  return OF_PROMPTS.has(code) ? 'invalid_prompt' : 'server_error';
}

/** The same request would fail again. */
const OF_PROMPTS: ReadonlySet<string> = new Set<ErrorCode>([
  'invalid_request',
  'invalid_constraint',
  'context_length_exceeded',
  'model_not_found',
]);
