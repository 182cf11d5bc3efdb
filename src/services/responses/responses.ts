// Stored responses: saved when they have ended, or queued to be answered in the background; read, followed, cancelled, deleted and
// continued by their owner. response-runner.ts answers those in the background.
import { randomInt } from 'node:crypto';
import { setTimeout as wakeAfter } from 'node:timers/promises';
import type { Clock } from '#base/clock';
import { responseBlob, responseBlobs } from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { isAnswered, type ResponseStatus, type StoredResponse } from '#domain/stored-response';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { holdBlobs } from '../accounts/stored-bytes.ts';
import type { ChatContext } from '../chat/answer.ts';
import type { Chat } from '../chat/chat.ts';
import { createSharedReads } from '../shared-reads.ts';
import type { LiveResponses } from './live-responses.ts';
import {
  findShownContent,
  sealContent,
  shownResponse,
  type ResponseContent,
  type ResponseEvent,
  type ResponseWriter,
  type ShownContent,
  type WireObject,
} from './response-content.ts';

export interface NewResponse {
  readonly id: string;
  readonly createdAtMs: number;
  readonly content: ResponseContent;
}

export interface Responses {
  /** False: this server stores none. */
  readonly keeps: boolean;
  /** Throws `too_many_requests` if the caller may store nothing more, `invalid_request` if this server stores none. */
  checkRoom(caller: Caller): Promise<void>;
  /** Stores an answer that has ended. Durable when it resolves. */
  keep(context: Pick<ChatContext, 'caller' | 'project'>, baseModel: string, response: NewResponse): Promise<void>;
  /** Queues it to be answered in the background; `content.work` is not null. Throws what chat throws for its request. Returns what clients read. */
  submit(context: ChatContext, response: NewResponse): Promise<WireObject>;
  /** Returns null if the caller has no such response. */
  find(caller: Caller, id: string): Promise<WireObject | null>;
  /** Throws `not_found`, as all of these do. */
  get(caller: Caller, id: string): Promise<WireObject>;
  inputOf(caller: Caller, id: string): Promise<readonly WireObject[]>;
  /** The whole conversation including the answer. Throws `invalid_request` if there is no answer to continue from. */
  conversationOf(caller: Caller, id: string): Promise<readonly WireObject[]>;
  /** Items of the conversation or the answer by their ids, in any order. */
  itemsOf(caller: Caller, id: string, itemIds: readonly string[]): Promise<readonly WireObject[]>;
  /** A response that has ended stays unchanged. Throws `invalid_request` for one that is not in the background. */
  cancel(caller: Caller, id: string): Promise<WireObject>;
  delete(caller: Caller, id: string): Promise<void>;
  /** Events after this one, as they come, until the last. Throws `invalid_request` if it has no events. */
  follow(caller: Caller, id: string, after: number, signal: AbortSignal): AsyncIterable<ResponseEvent>;
}

export interface ResponsesDeps {
  readonly storage: Pick<Storage, 'responses'>;
  readonly blobs: BlobStore;
  readonly chat: Pick<Chat, 'check'>;
  readonly limits: Pick<AccountLimits, 'storing' | 'backgrounding'>;
  readonly live: LiveResponses;
  readonly writer: Pick<ResponseWriter, 'ending'>;
  readonly clock: Clock;
  /** False: responses are answered and not stored. */
  readonly keeps: boolean;
  /** Maximum number queued by all callers together. */
  readonly backgroundMax: number;
}

/** Maximum delay until an event that another server stored is noticed. */
const POLL_MS = 500;
/** Two of the largest requests, or thousands of conversations. */
const REMEMBERED_BYTES_MAX = 64e6;

export function createResponses(deps: ResponsesDeps): Responses {
  const { storage, blobs, chat, limits, live, writer, clock } = deps;
  const contents = createSharedReads<ShownContent>(REMEMBERED_BYTES_MAX);
  /** A blob's content never changes. */
  const contentOf = (row: StoredResponse) => contents.find(row.blob, () => findShownContent(blobs, row));

  interface Found {
    readonly row: StoredResponse;
    readonly content: ShownContent;
  }

  async function findRow(caller: Caller, id: string): Promise<StoredResponse | null> {
    const row = await storage.responses.find(id);
    return row?.entity === caller.entity ? row : null;
  }

  async function find(caller: Caller, id: string): Promise<Found | null> {
    const row = await findRow(caller, id);
    const content = row && (await contentOf(row));
    if (row && content) return { row, content };
    const now = row && (await findRow(caller, id)); // may have been answered meanwhile, or deleted
    const later = now && now.blob !== row.blob ? await contentOf(now) : null;
    return now && later ? { row: now, content: later } : null;
  }

  const found = <T>(id: string, what: T | null): T => {
    if (what !== null) return what;
    throw new AppError(
      'not_found',
      `There is no response \`${id.slice(0, 100)}\`: it was not stored, was deleted, or has expired.`,
    );
  };
  const get = async (caller: Caller, id: string): Promise<Found> => found(id, await find(caller, id));
  /** Without its content, which may be megabytes. */
  const getRow = async (caller: Caller, id: string) => found(id, await findRow(caller, id));

  async function put({ caller }: Pick<ChatContext, 'caller'>, { id, content }: NewResponse): Promise<string> {
    const blob = responseBlob(id, 0);
    await limits.storing(caller, (bytes) => holdBlobs(blobs, bytes).put(blob, sealContent(content)));
    return blob;
  }

  const rowOf = (
    { caller, project }: Pick<ChatContext, 'caller' | 'project'>,
    { id, createdAtMs }: NewResponse,
    about: Pick<StoredResponse, 'baseModel' | 'status' | 'blob' | 'endedAtMs'>,
  ): StoredResponse => ({
    ...{ id, createdAtMs, project, attempt: 0, error: null },
    ...{ entity: caller.entity, keyId: caller.keyId },
    ...about,
  });

  return {
    keeps: deps.keeps,

    async checkRoom(caller) {
      if (deps.keeps) return limits.storing(caller, async (bytes) => bytes.hold(0));
      const message = 'This server does not store responses (WHETSTONE_KEEP_RESPONSES_DAYS is 0). Send store: false.';
      throw new AppError('invalid_request', message, { param: 'store' });
    },

    async keep(context, baseModel, response) {
      const blob = await put(context, response);
      const status = response.content.response['status'] as ResponseStatus;
      await storage.responses.create(rowOf(context, response, { baseModel, status, blob, endedAtMs: clock.now() }));
    },

    async submit(context, response) {
      const { work } = response.content;
      // Drawn now, so that a server that takes over gives the same answer.
      const seeded = {
        ...work!.request,
        sampling: { ...work!.request.sampling, seed: work!.request.sampling.seed ?? randomInt(2 ** 47) },
      };
      const model = await chat.check(context, seeded);
      const content = { ...response.content, work: { ...work!, request: seeded } };
      await limits.backgrounding(context.caller, deps.backgroundMax, (place) =>
        place.settle(async () => {
          const blob = await put(context, { ...response, content });
          const about = { baseModel: model.base.id, status: 'queued' as const, blob, endedAtMs: null };
          await storage.responses.create(rowOf(context, response, about));
          return { value: null, amount: 1 };
        }),
      );
      live.queued();
      return content.response;
    },

    async find(caller, id) {
      const known = await find(caller, id);
      return known && shownResponse(known.row, known.content);
    },

    async get(caller, id) {
      const { row, content } = await get(caller, id);
      return shownResponse(row, content);
    },

    inputOf: async (caller, id) => (await get(caller, id)).content.input,

    async conversationOf(caller, id) {
      const { row, content } = await get(caller, id);
      if (row.status === 'completed' || row.status === 'incomplete') {
        return [...content.input, ...(content.response['output'] as readonly WireObject[])];
      }
      const todo = isAnswered(row.status) ? 'Continue from another one' : 'Wait until it has ended';
      throw new AppError('invalid_request', `The response \`${id}\` is ${row.status}: it has no output. ${todo}.`, {
        param: 'previous_response_id',
      });
    },

    async itemsOf(caller, id, itemIds) {
      const content = (await find(caller, id))?.content;
      const output = (content?.response['output'] ?? []) as readonly WireObject[];
      const all = [...output, ...(content?.input ?? [])]; // of two with one id, the first
      const known = new Map(all.toReversed().map((item) => [item['id'], item]));
      return itemIds.map((itemId) => {
        const item = known.get(itemId);
        if (item) return item;
        throw new AppError('not_found', `No stored response has an item \`${itemId.slice(0, 100)}\`.`, {
          param: 'input',
        });
      });
    },

    async cancel(caller, id) {
      const known = await get(caller, id);
      if (known.content.response['background'] !== true) {
        const message = `The response \`${id}\` does not run in the background. To end a response that does not, close its connection.`;
        throw new AppError('invalid_request', message);
      }
      if (isAnswered(known.row.status)) return shownResponse(known.row, known.content);
      await storage.responses.cancel(id, clock.now());
      live.find(id)?.cancel();
      live.changes.changed();
      const { row, content } = await get(caller, id);
      return shownResponse(row, content);
    },

    async delete(caller, id) {
      await getRow(caller, id);
      await storage.responses.delete(id);
      live.find(id)?.cancel();
      live.changes.changed();
      await blobs.delete(responseBlobs(id));
    },

    async *follow(caller, id, after, signal) {
      await getRow(caller, id); // events of others are not shown while they are made either
      let next = after + 1;
      let seen: (Pick<ShownContent, 'response' | 'events' | 'hasWork'> & { readonly blob: string }) | null = null;
      while (!signal.aborted) {
        const running = live.find(id);
        if (running) {
          while (next < running.events.length) yield running.events[next++]!;
          if (live.find(id) === running) await running.changes.next(signal);
          continue;
        }
        let row = await getRow(caller, id);
        if (seen?.blob !== row.blob) {
          const { row: read, content } = await get(caller, id);
          row = read;
          const { response, events, hasWork } = content; // its input may be megabytes
          seen = { response, events, hasWork, blob: row.blob };
        }
        if (seen.events === null) {
          const message = `The response \`${id}\` cannot be streamed again: only responses requested with background and stream can.`;
          throw new AppError('invalid_request', message, { param: 'stream' });
        }
        while (next < seen.events.length) yield seen.events[next++]!;
        if (isAnswered(row.status)) {
          if (seen.hasWork) yield writer.ending(shownResponse(row, seen), next);
          return;
        }
        if (live.find(id)) continue;
        const waiting = new AbortController();
        const over = AbortSignal.any([signal, waiting.signal]);
        await Promise.race([
          live.changes.next(over),
          wakeAfter(POLL_MS, undefined, { signal: over }).catch(() => undefined),
        ]);
        waiting.abort();
      }
    },
  };
}
