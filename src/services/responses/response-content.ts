// What is known of a kept response, in its blob: the conversation, the answer as clients read it, and until there is one, what it takes
// to make it. Items, answers and events are the wire's; nobody here looks into them further than their ids and statuses.
import { parseExactJson, stringifyExactJson } from '#base/exact-json';
import { AppError } from '#domain/errors';
import type { StoredResponse } from '#domain/stored-response';
import type { BlobStore } from '#storage/blobs';
import type { ChatDelta, Answer } from '../chat/answer.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { parseSealedJson, sealJson } from '../jobs/sealed-json.ts';

export type WireObject = Readonly<Record<string, unknown>>;

export interface ResponseEvent extends WireObject {
  readonly type: string;
  readonly sequence_number: number;
}

export interface ResponseContent {
  /** Items as the model was given them: the conversation before, then those of the request. Each has an id. */
  readonly input: readonly WireObject[];
  /** As clients read it: its id, status, output, … */
  readonly response: WireObject;
  /** By their numbers. Null: it was not asked for as a stream in the background. */
  readonly events: readonly ResponseEvent[] | null;
  /** Null: nothing is left to do. */
  readonly work: {
    readonly request: ChatRequest;
    /** What the writer needs to know of the request. */
    readonly head: WireObject;
  } | null;
}

/** How answers of the background look on the wire: the api's business. */
export interface ResponseWriter {
  /** All but the first ones, which were known when it was asked for. The last one has the whole answer as `response`. */
  events(
    head: WireObject,
    answer: Answer,
    deltas: AsyncIterable<ChatDelta>,
    now: () => number,
  ): AsyncIterable<ResponseEvent>;
  /** Of an answer that has no last event of its own. */
  ending(response: WireObject, number: number): ResponseEvent;
}

/** As text in JSON: numbers of clients come back with their digits. */
export const sealContent = (content: ResponseContent): Uint8Array => sealJson(stringifyExactJson(content));

/** Null: it was deleted meanwhile. */
export async function findContent(
  blobs: Pick<BlobStore, 'find'>,
  { id, blob }: Pick<StoredResponse, 'id' | 'blob'>,
): Promise<ResponseContent | null> {
  const bytes = await blobs.find(blob);
  if (bytes === null) return null;
  const sealed = parseSealedJson<string>(bytes);
  if (sealed) return parseExactJson(sealed.value) as ResponseContent;
  throw new AppError('damaged_data', `What is kept of response ${id} is not what was stored. Ask again.`);
}

/** What the row knows better: it is written when the state changes. */
export const shownResponse = ({ status, error }: StoredResponse, { response }: ResponseContent): WireObject => ({
  ...response,
  status,
  ...(error === null ? {} : { error }),
});
