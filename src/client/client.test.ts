import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from './client.ts';

test('a caller that deletes the items of a list while reading it still reads all of it', async () => {
  const ids = Array.from({ length: 250 }, (_, i) => `job-${i}`);
  const answer = (status: number, body: unknown) => Promise.resolve(new Response(JSON.stringify(body), { status }));
  const client = createClient({
    baseUrl: 'http://server',
    apiKey: 'k',
    fetch: (url) => {
      const query = new URL(url).searchParams;
      const after = query.get('after');
      if (after !== null && !ids.includes(after)) return answer(400, { error: { message: 'No such cursor.' } });
      const from = after === null ? 0 : ids.indexOf(after) + 1;
      const to = from + Number(query.get('limit'));
      const data = ids.slice(from, to).map((id) => ({ id }));
      return answer(200, { data, last_id: data.at(-1)?.id ?? '', has_more: to < ids.length });
    },
  });
  const read: string[] = [];
  for await (const { id } of client.listModels()) {
    read.push(id);
    ids.splice(ids.indexOf(id), 1);
  }
  expect([read.length, new Set(read).size, ids]).toEqual([250, 250, []]);
});

test('a download whose reader starts late is complete, also if memory was collected meanwhile', async () => {
  const server = createServer((_request, response) => void response.end('step,loss\n1,0.5\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'k' });
  const exported = await client.exportHistory('model', 'csv');
  setFlagsFromString('--expose-gc');
  for (let i = 0; i < 5; i++) {
    (runInNewContext('gc') as () => void)();
    await setImmediate();
  }
  expect(await new Response(exported).text()).toBe('step,loss\n1,0.5\n');
});

test('the deadline of a request limits how long a stream takes to begin, not how long it lasts', async () => {
  const piece = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
  const server = createServer(({ url }, response) => {
    if (url === '/v1/preview/models/model/metrics?format=csv') return; // never answers
    response.write(piece('slow'));
    setTimeout(() => response.end(`${piece(' stream')}data: [DONE]\n\n`), 400);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'k', timeoutMs: 200 });
  let text = '';
  for await (const content of client.chatStream({ model: 'm', messages: [] })) text += content;
  expect(text).toBe('slow stream');
  await expect(client.exportHistory('model', 'csv')).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('a stream of chat tells its listeners what the model thinks and why the answer ended', async () => {
  const chunks = [
    { delta: { reasoning: 'Hm' } },
    { delta: { content: 'Yes' } },
    { delta: {}, finish_reason: 'length' },
  ];
  const lines = chunks.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`).join('');
  const client = createClient({
    baseUrl: 'http://s',
    apiKey: 'k',
    fetch: async () => new Response(`${lines}data: [DONE]\n\n`),
  });
  const heard: string[] = [];
  const listeners = {
    onReasoning: (piece: string) => void heard.push(`thinks ${piece}`),
    onFinish: (reason: string) => void heard.push(reason),
  };
  for await (const piece of client.chatStream({ messages: [] }, undefined, listeners)) heard.push(piece);
  expect(heard).toEqual(['thinks Hm', 'Yes', 'length']);
});

/** A client of a server whose job has ended, after `events`, and that answers requests for the job with these in turn; the last one repeats. */
async function clientOf(answers: readonly { status: number; body: unknown }[], events: readonly object[] = []) {
  let asked = 0;
  const answer: RequestListener = ({ url }, response) => {
    if (url!.endsWith('/events')) {
      response.setHeader('content-type', 'text/event-stream');
      const all = [...events, { id: '1', type: 'training_ended', data: {} }];
      response.end(all.map((event, i) => `id: ${i}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
      return;
    }
    const { status, body } = answers[Math.min(asked++, answers.length - 1)]!;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { client: createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'k' }), asked: () => asked };
}

const AWAY = { status: 503, body: { error: { message: 'The database is away.', code: 'storage_unavailable' } } };
const SUCCEEDED = { status: 200, body: { id: 'job', status: 'succeeded' } };

test('waiting for a job retries if the server cannot report its state yet, and reports the failure and its end', async () => {
  const { client, asked } = await clientOf([AWAY, SUCCEEDED]);
  const connection: unknown[] = [];
  expect(await client.follow('job', { onConnection: (lost) => connection.push(lost) })).toEqual(SUCCEEDED.body);
  expect(asked()).toBe(2);
  expect(connection).toEqual([expect.objectContaining({ status: 503 }), null]);
});

test('a job that waits says behind what', async () => {
  const waiting_for = { type: 'job', id: 'first', message: 'It waits for its turn behind the training job first.' };
  const { client } = await clientOf([SUCCEEDED], [{ id: '0', type: 'training_waiting', data: { waiting_for } }]);
  const waits: unknown[] = [];
  await client.follow('job', { onWaiting: (each) => waits.push(each) });
  expect(waits).toEqual([waiting_for]);
});

test('each failed attempt is reported to the follower, and an error thrown by the report ends following', async () => {
  const { client } = await clientOf([AWAY]);
  const lost: unknown[] = [];
  const onConnection = (error: unknown) => {
    lost.push(error);
    if (lost.length === 2) throw new Error('enough');
  };
  await expect(client.follow('job', { onConnection })).rejects.toThrow('enough');
  expect(lost).toMatchObject([{ status: 503 }, { status: 503 }]);
});

test('an error thrown when the stream of events is open again ends following, and closes the stream', async () => {
  let opened = 0;
  let isClosed = false;
  const stream = new ReadableStream({ cancel: () => void (isClosed = true) });
  const answers = [new Response('{}', { status: 503, headers: { 'retry-after': '0' } }), new Response(stream)];
  const client = createClient({
    baseUrl: 'http://server',
    apiKey: 'k',
    fetch: () => Promise.resolve(answers[opened++]!),
  });
  const onConnection = (lost: unknown) => {
    if (lost === null) throw new Error('enough');
  };
  await expect(client.follow('job', { onConnection })).rejects.toThrow('enough');
  expect([opened, isClosed]).toEqual([2, true]);
});

test('a refusal is thrown at once', async () => {
  const { client, asked } = await clientOf([{ status: 404, body: { error: { message: 'No training job job.' } } }]);
  await expect(client.follow('job')).rejects.toThrow('No training job');
  expect(asked()).toBe(1);
});

test('the wait for a server that stays away ends with the deadline', async () => {
  const { client } = await clientOf([AWAY]);
  await expect(client.follow('job', { deadlineMs: 500 })).rejects.toMatchObject({ name: 'TimeoutError' });
});

test.each([
  [{ baseUrl: undefined, apiKey: 'k' }, 'createClient needs baseUrl, and got undefined'],
  [{ baseUrl: 'http://server', apiKey: '' }, 'createClient needs apiKey, and got ""'],
])('the error for %o names what is missing', (options, message) => {
  expect(() => createClient(options as { baseUrl: string; apiKey: string })).toThrow(message);
});

test('a server that does not answer is named, and why', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}/`, apiKey: 'k' });
  const message = `fetch failed: http://127.0.0.1:${port} does not answer (ECONNREFUSED)`;
  await expect(client.listBaseModels()).rejects.toThrow(message);
});

test('an address without a scheme is refused when the client is made', () => {
  expect(() => createClient({ baseUrl: 'localhost:8484', apiKey: 'k' })).toThrow('such as http://127.0.0.1:8484');
});
