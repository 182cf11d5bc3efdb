import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { AppError } from '#domain/errors';
import { decodeMessage } from './codec.ts';
import { createRpcClient } from './rpc-client.ts';
import type { Port, ToClient, ToServer } from './rpc-messages.ts';
import { serveRpc, type Handlers } from './rpc-server.ts';

interface Procedures {
  double: { params: number; result: number };
  count: { params: number; result: string; event: number };
  echo: { params: null; result: string[]; control: string };
  refuse: { params: null; result: null };
  crash: { params: null; result: null };
  hang: { params: null; result: string };
}

let close: () => void;
afterEach(() => close());

/** A real channel: messages are cloned, ordered and asynchronous, as between processes. */
function connect(handlers: Partial<Handlers<Procedures>> = {}) {
  const channel = new MessageChannel();
  close = () => channel.port1.close();
  const received: ToClient[] = [];
  const clientPort: Port<ToServer, ToClient> = {
    send: (message) => channel.port1.postMessage(message),
    receive: (handler) =>
      channel.port1.on('message', (message: ToClient) => {
        received.push(message);
        handler(message);
      }),
  };
  const serverPort: Port<ToClient, ToServer> = {
    send: (message) => channel.port2.postMessage(message),
    receive: (handler) => channel.port2.on('message', handler),
  };
  const server = serveRpc<Procedures>(serverPort, {
    double: async (x) => x * 2,
    async count(to, { emit }) {
      for (let i = 0; i < to; i++) emit(i);
      return 'done';
    },
    echo: (_, { onControl }) =>
      new Promise((resolve) => {
        const heard: string[] = [];
        onControl((word) => {
          heard.push(word);
          if (word === 'end') resolve(heard);
        });
      }),
    async refuse() {
      throw new AppError('too_many_requests', 'Full.', { retryAfterSeconds: 5, cause: new Error('why') });
    },
    async crash() {
      throw new TypeError('x is not a function');
    },
    hang: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'))),
    ...handlers,
  });
  return { client: createRpcClient<Procedures>(clientPort), server, received };
}

test('calls run side by side and get their own answers', async () => {
  const { client } = connect();
  const answers = [1, 2, 3].map((x) => client.call('double', x).result);
  expect(await Promise.all(answers)).toEqual([2, 4, 6]);
});

test('the events of one turn of the loop travel in one message, in order, before the end', async () => {
  const { client, received } = connect();
  const events: number[] = [];
  const { result } = client.call('count', 4, { onEvents: (batch) => events.push(...batch) });
  expect(await result).toBe('done');
  expect(events).toEqual([0, 1, 2, 3]);
  expect(received.map(({ kind }) => kind)).toEqual(['events', 'return']);
});

test('messages of a client to a running call arrive in order', async () => {
  const { client } = connect();
  const { result, tell } = client.call('echo', null);
  for (const word of ['a', 'b', 'end']) tell(word);
  expect(await result).toEqual(['a', 'b', 'end']);
  tell('too late'); // dropped
});

test('an error keeps its code, its advice and its cause', async () => {
  const { client } = connect();
  const error = await client.call('refuse', null).result.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'too_many_requests', message: 'Full.', retryAfterSeconds: 5 });
  expect((error as Error).cause).toMatchObject({ message: expect.stringContaining('why') as string });
});

test('a bug reaches the client without its details, which are for the log', async () => {
  const { client } = connect();
  const error = await client.call('crash', null).result.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'engine_failed', message: 'The engine failed.' });
  expect((error as Error).cause).toMatchObject({ message: expect.stringContaining('x is not a function') as string });
});

test('an aborted call fails at once and is stopped at the other end', async () => {
  let onStopped = () => {};
  const stopped = new Promise<void>((resolve) => (onStopped = resolve));
  const { client } = connect({
    hang: (_, { signal }) => new Promise(() => signal.addEventListener('abort', onStopped)),
  });
  const controller = new AbortController();
  const { result } = client.call('hang', null, { signal: controller.signal });
  controller.abort();
  await expect(result).rejects.toMatchObject({ code: 'cancelled' });
  await stopped;
});

test('a call past its deadline fails, and which it was is for the log', async () => {
  const { client } = connect();
  await expect(client.call('hang', null, { timeoutMs: 20 }).result).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: "The model's process did not answer within 0.02 s. Try again.",
    cause: new Error('no answer to hang'),
  });
});

test('when the other end is lost every call fails with the reason, those before and those after', async () => {
  const { client } = connect();
  const before = client.call('hang', null).result;
  client.fail(new AppError('engine_unavailable', 'It is gone.'));
  await expect(before).rejects.toThrow('It is gone.');
  await expect(client.call('double', 1).result).rejects.toThrow('It is gone.');
});

test('notices come in order with the events before them', async () => {
  const { client, server } = connect({
    async count(to, { emit }) {
      emit(to);
      server.notify('status', 'busy');
      return 'done';
    },
  });
  const seen: unknown[] = [];
  client.onNotice((name, payload) => seen.push([name, payload]));
  await client.call('count', 7, { onEvents: (events) => seen.push(...events) }).result;
  expect(seen).toEqual([7, ['status', 'busy']]);
});

test('events of relayed calls arrive as numbered bytes, each session for itself, before the end', async () => {
  const { client, received } = connect();
  const sent: { session: string; message: unknown }[] = [];
  const relay = (session: string, id: number) => ({
    far: { session, id },
    send: (bytes: Uint8Array) => void sent.push({ session, message: decodeMessage(bytes) }),
  });
  const first = client.call('count', 2, { relay: relay('a', 70) });
  const second = client.call('count', 1, { relay: relay('b', 70) });
  const own: number[] = [];
  const third = client.call('count', 1, { onEvents: (events) => own.push(...events) });
  expect(await Promise.all([first.result, second.result, third.result])).toEqual(['done', 'done', 'done']);
  const event = (payload: number) => ({ id: 70, payload });
  expect(sent).toEqual([
    { session: 'a', message: { kind: 'events', events: [event(0), event(1)] } },
    { session: 'b', message: { kind: 'events', events: [event(0)] } },
  ]);
  expect(own).toEqual([0]);
  expect(received.findIndex(({ kind }) => kind === 'return')).toBe(1);
});

test('an aborted relayed call ends when the other end says so', async () => {
  const { client, received } = connect();
  const controller = new AbortController();
  const relay = { far: { session: 'a', id: 1 }, send: () => {} };
  const { result } = client.call('hang', null, { signal: controller.signal, relay });
  controller.abort();
  expect(await result).toBe('stopped');
  expect(received).toEqual([{ kind: 'return', id: 0, value: 'stopped' }]);
});
