// What a stored response may cost those who read, follow or continue it: its content may be megabytes, and each request is small.
import { expect, test, vi } from 'vitest';
import type { InferenceEngine } from '#engine/inference-engine';
import { shareScriptedServer, type Script } from './scripted-engine.ts';
import { BASE, containing, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

const script: Script = { text: 'Hello.', asked: null };
const server = await shareScriptedServer(script);
const url = '/v1/responses';
const body = (fields: object = {}) => ({ model: BASE, input: 'Hi', max_output_tokens: 20, ...fields });
const WAIT = { timeout: 30_000 };

interface Event {
  readonly type: string;
}

async function ask(fields: object, at = server): Promise<{ readonly id: string }> {
  const response = await send(at, { url, body: body(fields) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

async function stream(request: Parameters<typeof send>[1], at: TestServer): Promise<Event[]> {
  const response = await send(at, request);
  expect(response.statusCode, response.body).toBe(200);
  const frames = response.body.trim().split('\n\n');
  return frames.map((frame) => JSON.parse(/data: (.*)$/.exec(frame)![1]!) as Event);
}

async function onlyResponse({ storage }: TestServer): Promise<string> {
  for await (const { id } of storage.inventory.responses()) return id;
  throw new Error('no response is kept');
}

/** An engine that answers nothing until the request ends. */
const silent = (real: InferenceEngine): InferenceEngine => ({
  ...real,
  generate(request, signal) {
    const tokens = real.generate(request, signal);
    return {
      cancelChoice: (choice) => tokens.cancelChoice(choice),
      async *[Symbol.asyncIterator]() {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        signal.throwIfAborted();
        yield* tokens;
      },
    };
  },
});

test('the input of a response is listed in pages that end early if items are large', async () => {
  const wide = await openTestServer({ limits: { bodyBytesMax: 16_000_000 } });
  try {
    const thought = { type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(2_500_000) };
    const { id } = await ask({ input: [thought, thought, { role: 'user', content: 'Hi' }] }, wide);
    const list = async (query: string) =>
      (await send(wide, { url: `${url}/${id}/input_items?order=asc${query}` })).json<{
        data: { id: string }[];
        last_id: string;
        has_more: boolean;
      }>();
    const first = await list('');
    expect([first.data.length, first.has_more]).toEqual([1, true]);
    const second = await list(`&after=${first.last_id}`);
    expect([second.data.length, second.has_more]).toEqual([2, false]);
  } finally {
    await wide.close();
  }
});

test('a conversation is as large as a body at most, however many turns or references it has', async () => {
  const thought = (characters: number) => ({
    type: 'reasoning',
    id: 'rs_large',
    encrypted_content: 'x'.repeat(characters),
    summary: [],
  });
  const user = { role: 'user', content: 'Hi' };
  const first = await ask({ input: [thought(30_000), user] });
  const second = await ask({ previous_response_id: first.id, input: [thought(20_000), user] });
  const refused = async (fields: object) => {
    const response = await send(server, { url, body: body(fields) });
    expect(response.statusCode, response.body.slice(0, 500)).toBe(400);
    return response.json<{ error: { message: string; param: string } }>().error;
  };
  const third = await refused({ previous_response_id: second.id, input: [thought(20_000), user] });
  expect(third).toMatchObject({ param: 'previous_response_id', message: containing('more than 64000 bytes') });
  expect(third.message).toContain('Begin a new one without previous_response_id');
  const large = await ask({ input: [{ ...thought(30_000), id: undefined }, user] });
  const reference = { type: 'item_reference', id: `rs_${large.id.slice(5)}_in0` };
  await ask({ input: [reference, user] });
  expect(await refused({ input: [reference, reference, reference, user] })).toMatchObject({ param: 'input' });
  const counted = await send(server, {
    url: `${url}/input_tokens`,
    body: { model: BASE, input: [reference, reference, reference, user] },
  });
  expect(counted.statusCode).toBe(400);
});

test('a response is read once for all its items that a request names', async () => {
  const first = await ask({ input: ['a', 'b', 'c'].map((content) => ({ role: 'user', content })) });
  const find = vi.spyOn(server.blobs, 'find');
  const named = [0, 1, 2].map((i) => ({ type: 'item_reference', id: `msg_${first.id.slice(5)}_in${i}` }));
  await ask({ input: named, store: false });
  expect(find).toHaveBeenCalledTimes(1);
  find.mockRestore();
});

test('followers of a response in the background read its content once for all, and only its row while it waits', async () => {
  const idle = await openTestServer({ answersBackground: false });
  try {
    const find = vi.spyOn(idle.blobs, 'find');
    const watched = [stream({ url, body: body({ background: true, stream: true }) }, idle)];
    await vi.waitFor(async () => expect(await idle.storage.responses.countUnfinished(null)).toBe(1), WAIT);
    const id = await onlyResponse(idle);
    for (let i = 0; i < 3; i++) watched.push(stream({ url: `${url}/${id}?stream=true` }, idle));
    const rows = vi.spyOn(idle.storage.responses, 'find');
    await vi.waitFor(() => expect(rows.mock.calls.length).toBeGreaterThan(4 * 4), WAIT);
    await send(idle, { method: 'POST', url: `${url}/${id}/cancel` });
    for (const events of await Promise.all(watched)) {
      expect(events.map(({ type }) => type)).toEqual(['response.created', 'response.queued', 'response.failed']);
    }
    expect(find).toHaveBeenCalledTimes(1);
  } finally {
    await idle.close();
  }
});

test('events of a response are not shown to another entity, also while they are made', async () => {
  const slow = await openTestServer({ wrapEngine: silent });
  try {
    const own = stream({ url, body: body({ background: true, stream: true }) }, slow);
    await vi.waitFor(async () => expect(await slow.storage.responses.countUnfinished(null)).toBe(1), WAIT);
    const id = await onlyResponse(slow);
    const row = () => slow.storage.responses.find(id);
    await vi.waitFor(async () => expect(await row()).toMatchObject({ status: 'in_progress' }), WAIT);
    const { secret } = await slow.apiKeys.create({ entity: 'others', name: 'x' });
    const headers = { authorization: `Bearer ${secret}` };
    expect((await send(slow, { url: `${url}/${id}?stream=true`, headers })).statusCode).toBe(404);
    await send(slow, { method: 'POST', url: `${url}/${id}/cancel` });
    expect((await own).at(-1)).toMatchObject({ type: 'response.failed', response: { id } });
  } finally {
    await slow.close();
  }
});
