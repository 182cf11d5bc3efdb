// What one connection may cost: an unexpected error costs that connection, and a hello as long as a model's answer is not decoded.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '#base/clock';
import { createRecordingLog } from '../../../test/support/serving/recording-log.ts';
import { decodeMessage, encodeMessage } from '../rpc/codec.ts';
import { createWorkerRegistry, DEFAULT_REGISTRY_LIMITS, type WorkerRegistry } from './worker-registry.ts';

const SHA = 'a'.repeat(64);
const MODEL = { id: 'm', configSha256: SHA, tokenizerSha256: SHA, contextLength: 8, vocabSize: 8 };
const hello = (id: string) => ({
  kind: 'hello',
  protocol: 1,
  worker: { id, name: id, version: '1' },
  session: null,
  model: { id: 'm', configSha256: SHA, tokenizerSha256: SHA },
  roles: ['sample'],
  sampler: {
    contextLength: 8,
    vocabSize: 8,
    sequencesMax: 1,
    adaptersMax: 1,
    capabilities: {
      exactReplay: true,
      constraints: [],
      promptLogprobs: true,
      precision: 'float32',
      unsupportedSampling: [],
    },
  },
  trainer: null,
});

/** Opens connections to it. */
async function served(registry: WorkerRegistry): Promise<() => Promise<WebSocket>> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => registry.accept(socket));
  await once(server, 'listening');
  onTestFinished(() => {
    registry.close();
    server.close();
  });
  return async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await once(socket, 'open');
    return socket;
  };
}

test('a hello that meets an unexpected error closes its connection, and the next worker is welcome', async () => {
  const log = createRecordingLog();
  const registry = createWorkerRegistry(new Map([['m', MODEL]]), DEFAULT_REGISTRY_LIMITS, systemClock, log);
  let isBroken = true;
  registry.onChange(() => {
    if (isBroken) throw new TypeError('a bug');
  });
  const open = await served(registry);
  const connect = async (id: string) => {
    const socket = await open();
    socket.send(encodeMessage(hello(id)));
    return socket;
  };
  const [code] = (await once(await connect('first'), 'close')) as [number];
  expect(code).toBe(1011);
  expect(log.lines).toContainEqual(expect.objectContaining({ level: 'error', event: 'worker.connection_failed' }));
  isBroken = false;
  const second = await connect('second');
  await vi.waitFor(() => expect(registry.list().map(({ hello: { worker } }) => worker.id)).toContain('second'));
  second.terminate();
});

test('a hello of a million bytes is refused before it is decoded', async () => {
  const registry = createWorkerRegistry(
    new Map([['m', MODEL]]),
    DEFAULT_REGISTRY_LIMITS,
    systemClock,
    createRecordingLog(),
  );
  const socket = await (await served(registry))();
  socket.send(Buffer.concat([Buffer.alloc(1_000_000, 0x91), Buffer.from([0xc0])])); // a list in a list in a list …
  const [answer] = (await once(socket, 'message')) as [Buffer];
  expect(decodeMessage(answer)).toMatchObject({
    kind: 'refused',
    code: 'invalid_hello',
    message: 'The hello message has 1000001 bytes, and at most 65536 are read.',
  });
});
