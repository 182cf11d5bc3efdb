// Stored responses: reading, continuing, answering in the background, cancelling, deleting, and expiry.
import { describe, expect, test, vi } from 'vitest';
import type { z } from 'zod';
import { responseSchema } from '#api/responses/responses-response-schema';
import { silentLog } from '#base/log';
import { AppError } from '#domain/errors';
import type { InferenceEngine } from '#engine/inference-engine';
import { deleteOldResponses } from '#services/responses/response-retention';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { shareScriptedServer, type Script } from './scripted-engine.ts';
import {
  asOwner,
  BACKGROUND_MAX,
  BASE,
  containing,
  openTestServer,
  send,
  standingClock,
} from '../../support/api/test-server.ts';
import { openStorageInMemory } from '../../support/storage-in-memory.ts';

const script: Script = { text: 'Hello.', asked: null };
const server = await shareScriptedServer(script);
const url = '/v1/responses';
const body = (fields: object = {}) => ({ model: BASE, input: 'Hi', max_output_tokens: 200, ...fields });
const WAIT = { timeout: 30_000 };

type Answer = z.output<typeof responseSchema>;
interface Event {
  type: string;
  sequence_number: number;
  delta?: string;
  response?: Answer;
}

async function ask(text: string, fields: object = {}, at = server): Promise<Answer> {
  script.text = text;
  const response = await send(at, { url, body: body(fields) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

async function read(id: string, at = server): Promise<Answer> {
  const response = await send(at, { url: `${url}/${id}` });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

async function stream(request: Parameters<typeof send>[1], at = server): Promise<Event[]> {
  const response = await send(at, request);
  expect(response.statusCode, response.body).toBe(200);
  const frames = response.body.trim().split('\n\n');
  return frames.map((frame) => JSON.parse(/data: (.*)$/.exec(frame)![1]!) as Event);
}

const ends = (id: string, status: string, at = server) =>
  vi.waitFor(async () => expect(await read(id, at)).toMatchObject({ status }), WAIT);

const prompt = () => server.model.text.tokenizer.decode(script.asked!.promptTokens, { skipSpecialTokens: false });
const call = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>';
const tools = [{ type: 'function', name: 'get_time', parameters: { type: 'object' } }];

/** The real engine, which starts when the gate opens. */
function behindGate(real: InferenceEngine) {
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const engine: InferenceEngine = {
    ...real,
    generate(request, signal) {
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      const stream = real.generate(request, signal);
      return {
        cancelChoice: (choice) => stream.cancelChoice(choice),
        async *[Symbol.asyncIterator]() {
          await Promise.race([gate, aborted]);
          signal.throwIfAborted(); // what the engine computed in the meantime is discarded
          yield* stream;
        },
      };
    },
  };
  return { engine, open: () => open() };
}

describe('an answer', () => {
  test('can be read again unchanged, also if it was streamed, until it is deleted', async () => {
    const whole = await ask(`<think>\nHm.\n</think>\n\n${call}`, { tools, metadata: { a: 'b' } });
    expect(await read(whole.id)).toEqual(whole);
    const events = await stream({ url, body: body({ stream: true }) });
    const { response } = events.at(-1)!;
    expect(await read(response!.id)).toEqual(response);
    const deleted = await send(server, { method: 'DELETE', url: `${url}/${whole.id}` });
    expect(deleted.json()).toEqual({ id: whole.id, object: 'response', deleted: true });
    for (const method of ['GET', 'DELETE'] as const) {
      const gone = await send(server, { method, url: `${url}/${whole.id}` });
      expect([gone.statusCode, gone.json<{ error: { code: string } }>().error.code]).toEqual([404, 'not_found']);
    }
    expect(await server.blobs.list(`responses/${whole.id}`)).toEqual([]);
  });

  test('is not stored if the client says so', async () => {
    const answer = await ask('Hello.', { store: false });
    expect(answer.store).toBe(false);
    expect((await send(server, { url: `${url}/${answer.id}` })).statusCode).toBe(404);
  });

  test('is the same for the same Idempotency-Key, also if the first request was cut off after its work was done', async () => {
    const { idempotency } = server.storage;
    const twice = { url, body: body(), headers: { 'idempotency-key': 'one' } };
    const fault = new AppError('storage_unavailable', 'The disk is full.');
    const complete = vi.spyOn(idempotency, 'complete').mockRejectedValueOnce(fault);
    script.text = 'Once.';
    expect((await send(server, twice)).statusCode).toBe(503);
    complete.mockRestore();
    script.text = 'Twice.';
    const first = (await send(server, twice)).json<Answer>();
    expect(first.output).toMatchObject([{ content: [{ text: 'Once.' }] }]);
    expect((await send(server, twice)).json()).toEqual(first);
    const streamed = await send(server, { ...twice, body: body({ stream: true }) });
    expect(streamed.statusCode).toBe(422); // another body
    const fresh = { ...twice, body: body({ stream: true }), headers: { 'idempotency-key': 'two' } };
    expect((await send(server, fresh)).json()).toMatchObject({ error: { param: 'stream' } });
  });

  test('is hidden from another entity', async () => {
    const { id } = await ask('Hello.');
    const { secret } = await server.apiKeys.create({ entity: 'others', name: 'x' });
    const headers = { authorization: `Bearer ${secret}` };
    const theirs = { model: BASE, input: 'Hi', previous_response_id: id };
    expect((await send(server, { url, headers, body: theirs })).statusCode).toBe(404);
    const reference = { model: BASE, input: [{ type: 'item_reference', id: `msg_${id.slice(5)}_0` }] };
    expect((await send(server, { url, headers, body: reference })).statusCode).toBe(404);
    expect(
      (await send(server, { url, headers: asOwner, body: { ...reference, max_output_tokens: 1 } })).statusCode,
    ).toBe(200);
  });

  test('counts towards the bytes its key may store, and is refused before it is made', async () => {
    const { secret } = await server.apiKeys.create({ entity: 'small', name: 'x', limits: { storedBytes: 3_000 } });
    const headers = { authorization: `Bearer ${secret}` };
    const refused = async () => (await send(server, { url, headers, body: body() })).statusCode === 429;
    await vi.waitUntil(refused, WAIT);
    expect(await server.storage.accounts.storedBytes({ entity: 'small', keyId: null })).toBeLessThanOrEqual(3_000);
    expect((await send(server, { url, headers, body: body({ store: false }) })).statusCode).toBe(200);
  });
});

describe('a conversation', () => {
  test('continues after what was said and answered, without the instructions', async () => {
    const first = await ask(call, { tools, input: 'What time is it?', instructions: 'Be brief.' });
    const [called] = first.output;
    expect(called).toMatchObject({ type: 'function_call' });
    const result = { type: 'function_call_output', call_id: (called as { call_id: string }).call_id, output: 'noon' };
    const second = await ask('It is noon.', { tools, previous_response_id: first.id, input: [result] });
    expect(second.previous_response_id).toBe(first.id);
    await ask('Fine.', { previous_response_id: second.id, input: 'Thanks!' });
    const said = prompt();
    const order = ['What time is it?', 'get_time', 'noon', 'It is noon.', 'Thanks!'].map((words) =>
      said.indexOf(words),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect(said).not.toContain('Be brief.');
  });

  test('is listed as items, with ids, in pages', async () => {
    const first = await ask('One.', { input: 'Say one.' });
    const second = await ask('Two.', {
      previous_response_id: first.id,
      input: [{ role: 'user', content: 'Say two.' }],
    });
    const list = async (query: string) =>
      (await send(server, { url: `${url}/${second.id}/input_items?${query}` })).json<{
        data: { id: string; role: string; content: { text: string }[] }[];
        has_more: boolean;
      }>();
    const { data } = await list('order=asc');
    expect(data.map(({ role, content }) => [role, content[0]!.text])).toEqual([
      ['user', 'Say one.'],
      ['assistant', 'One.'],
      ['user', 'Say two.'],
    ]);
    expect(new Set(data.map(({ id }) => id)).size).toBe(3);
    const page = await list('limit=2');
    expect([page.data.map(({ id }) => id), page.has_more]).toEqual([[data[2]!.id, data[1]!.id], true]);
    expect((await list(`limit=2&after=${page.data[1]!.id}`)).data).toEqual([data[0]]);
    expect((await send(server, { url: `${url}/${second.id}/input_items?after=nope` })).statusCode).toBe(400);
  });

  test('can refer to items of earlier answers', async () => {
    const first = await ask('A rather rare word: zebra.');
    const reference = { type: 'item_reference', id: first.output[0]!.id };
    for (const each of [reference, { id: reference.id }, { ...reference, type: null }]) {
      await ask('Fine.', { input: [{ role: 'user', content: 'Hi' }, each, { role: 'user', content: 'Again!' }] });
      expect(prompt()).toContain('zebra');
    }
    const unknown = await send(server, { url, body: body({ input: [{ type: 'item_reference', id: 'msg_1' }] }) });
    expect(unknown.json()).toMatchObject({ error: { code: 'not_found', param: 'input' } });
  });

  test('cannot continue after an unknown answer', async () => {
    const unknown = await send(server, { url, body: body({ previous_response_id: 'resp_1' }) });
    expect(unknown.statusCode).toBe(404);
  });
});

describe('in the background', () => {
  test('it is queued, and answered whether or not the client stays connected', async () => {
    const queued = await ask('Hello there.', { background: true });
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [], usage: null });
    await ends(queued.id, 'completed');
    const answer = await read(queued.id);
    expect(responseSchema.strict().safeParse(answer).error).toBeUndefined();
    expect(answer.output).toMatchObject([{ content: [{ text: 'Hello there.' }] }]);
    expect((await server.blobs.list('responses')).filter(({ name }) => name.includes(queued.id))).toHaveLength(1);
    await ask('Fine.', { previous_response_id: queued.id, input: 'Go on.' });
    expect(prompt()).toContain('Hello there.');
  });

  test('its stream can be left and read again from any event on', async () => {
    script.text = 'Naïve 🙂 text.';
    const events = await stream({ url, body: body({ background: true, stream: true }) });
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type.replace('response.', ''));
    expect([types.slice(0, 3), types.at(-1)]).toEqual([['created', 'queued', 'in_progress'], 'completed']);
    expect(events.map(({ delta = '' }) => delta).join('')).toBe(script.text);
    const { id } = events[0]!.response!;
    expect(await stream({ url: `${url}/${id}?stream=true` })).toEqual(events);
    expect(await stream({ url: `${url}/${id}?stream=true&starting_after=4` })).toEqual(events.slice(5));
    expect((await send(server, { url: `${url}/${id}?starting_after=4` })).statusCode).toBe(400);
    const other = await ask('Hello.');
    const refused = await send(server, { url: `${url}/${other.id}?stream=true` });
    expect(refused.json()).toMatchObject({ error: { code: 'invalid_request', param: 'stream' } });
    expect((await send(server, { method: 'POST', url: `${url}/${other.id}/cancel` })).statusCode).toBe(400);
  });

  test('what chat would refuse is refused at once; a cut answer is incomplete', async () => {
    const long = await send(server, { url, body: body({ background: true, input: 'word '.repeat(700) }) });
    expect(long.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
    const none = await ask('One two three.', { background: true, model: null, max_output_tokens: 2 });
    await ends(none.id, 'incomplete');
  });

  test('it can be cancelled before it starts and while it is being answered', async () => {
    let gate: ReturnType<typeof behindGate> | null = null;
    const slow = await openTestServer({ wrapEngine: (real) => (gate = behindGate(real)).engine });
    try {
      const running = await ask('', { background: true }, slow);
      await ends(running.id, 'in_progress', slow);
      const cancel = () => send(slow, { method: 'POST', url: `${url}/${running.id}/cancel` });
      expect((await cancel()).json()).toMatchObject({ id: running.id, status: 'cancelled' });
      expect((await cancel()).json()).toMatchObject({ status: 'cancelled' });
      const before = await send(slow, { url, body: body({ previous_response_id: running.id }) });
      expect(before.json()).toMatchObject({ error: { param: 'previous_response_id' } });
      const watched = stream({ url, body: body({ background: true, stream: true }) }, slow);
      const { responses } = slow.storage;
      await vi.waitFor(async () => expect(await responses.countUnfinished(null)).toBe(1), WAIT);
      const rows: string[] = [];
      for await (const { id } of slow.storage.inventory.responses()) if (id !== running.id) rows.push(id);
      await send(slow, { method: 'POST', url: `${url}/${rows[0]}/cancel` });
      expect((await watched).at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
      const deleted = await ask('', { background: true }, slow);
      await ends(deleted.id, 'in_progress', slow);
      await send(slow, { method: 'DELETE', url: `${url}/${deleted.id}` });
      gate!.open();
      await vi.waitFor(async () => {
        expect(await slow.blobs.list(`responses/${deleted.id}`)).toEqual([]);
        expect(slow.model.inference.status().running).toBe(0);
      }, WAIT);
    } finally {
      await slow.close();
    }
  });

  test('the number of waiting requests is limited, for the server and for a key', async () => {
    const idle = await openTestServer({ answersBackground: false });
    try {
      const { secret } = await idle.apiKeys.create({ entity: 'few', name: 'x', limits: { requestsInFlight: 1 } });
      const few = { url, body: body({ background: true }), headers: { authorization: `Bearer ${secret}` } };
      const one = (await send(idle, few)).json<Answer>();
      expect((await send(idle, few)).json()).toMatchObject({ error: { message: containing('in the background') } });
      await send(idle, { ...few, url: `${url}/${one.id}/cancel`, body: {} });
      expect((await send(idle, few)).statusCode).toBe(200);
      for (let i = 1; i < BACKGROUND_MAX; i++) await ask('', { background: true }, idle);
      expect((await send(idle, { url, body: body({ background: true }) })).statusCode).toBe(429);
    } finally {
      await idle.close();
    }
  });

  test('it survives the end of its server, with the same answer', async () => {
    const given = {
      storage: await openStorageInMemory(),
      blobs: createMemoryBlobs(),
      model: server.model,
      clock: standingClock(Date.UTC(2026, 5, 1)),
    };
    const seeded = { background: true, stream: true, temperature: 1, max_output_tokens: 8 };
    const first = await openTestServer({ given, wrapEngine: (real) => behindGate(real).engine });
    const left = stream({ url, body: body(seeded) }, first);
    await vi.waitFor(async () => expect(await given.storage.responses.countUnfinished(null)).toBe(1), WAIT);
    const row = await anyResponse(given.storage);
    await ends(row, 'in_progress', first);
    await first.close();
    const seen = await left;
    expect(seen.map(({ type }) => type)).toEqual(['response.created', 'response.queued']);
    expect(await given.storage.responses.find(row)).toMatchObject({ status: 'queued', attempt: 0 });
    const second = await openTestServer({ given });
    const events = await stream({ url: `${url}/${row}?stream=true&starting_after=1` }, second);
    expect(events.at(-1)).toMatchObject({ sequence_number: events.length + 1, response: { id: row } });
    await second.close();
  });

  test('a request that kills its server again and again ends with an error that says so', async () => {
    const given = {
      storage: await openStorageInMemory(),
      blobs: createMemoryBlobs(),
      model: server.model,
      clock: standingClock(Date.UTC(2026, 5, 1)),
    };
    const idle = await openTestServer({ given, answersBackground: false });
    const { id } = await ask('', { background: true }, idle);
    for (let i = 0; i < 3; i++) {
      await given.storage.responses.claim('a server that dies', given.clock.now(), 1_000, [BASE]);
      await given.storage.responses.releaseLeases();
    }
    await idle.close();
    const last = await openTestServer({ given });
    await ends(id, 'failed', last);
    expect((await read(id, last)).error).toMatchObject({ code: 'server_error', message: containing('3 times') });
    await last.close();
  });
});

async function anyResponse({ inventory }: { inventory: Awaited<ReturnType<typeof openStorageInMemory>>['inventory'] }) {
  for await (const { id } of inventory.responses()) return id;
  throw new Error('no response is kept');
}

describe('a server', () => {
  test('that stores no answers still answers, and refuses requests that need stored ones', async () => {
    const forgetful = await openTestServer({ keepsResponses: false });
    try {
      const answer = await ask('', { max_output_tokens: 2 }, forgetful);
      expect(answer.store).toBe(false);
      for (const fields of [{ store: true }, { background: true }]) {
        const refused = await send(forgetful, { url, body: body(fields) });
        expect(refused.json()).toMatchObject({ error: { param: 'store', message: containing('KEEP_RESPONSES') } });
      }
    } finally {
      await forgetful.close();
    }
  });

  test('forgets old answers, but none that is still to be answered', async () => {
    const idle = await openTestServer({ answersBackground: false });
    try {
      const { storage, blobs, clock } = idle;
      const answered = await ask('', { max_output_tokens: 2 }, idle);
      const queued = await ask('', { background: true }, idle);
      clock.advance(1_001);
      const younger = await ask('', { max_output_tokens: 2 }, idle);
      await deleteOldResponses({ storage, blobs, clock, log: silentLog, keepMs: 1_000 });
      expect((await send(idle, { url: `${url}/${answered.id}` })).statusCode).toBe(404);
      expect(await blobs.list(`responses/${answered.id}`)).toEqual([]);
      for (const { id } of [queued, younger]) await read(id, idle);
    } finally {
      await idle.close();
    }
  });
});
