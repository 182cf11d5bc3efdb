// Attacks on the protocols of Tinker and of workers: short messages that become much, samples that nobody fetches, hellos that lie.
import { setTimeout as delay } from 'node:timers/promises';
import { encode } from '@msgpack/msgpack';
import { WebSocket } from 'ws';
import { bytesOf } from '#services/tinker/protobuf/tensors';
import { createMessage } from '#services/tinker/protobuf/wire';
import { once, type Attack, type HostileClient } from './client.ts';

const API = '/tinker/api/v1';

/** Numbers of operations: each is used once. */
let operations = 1_000;

/** Of the run: the next one is decoded once all before it have ended. */
let ofRun = 1;

const forward = (name: string, make: (run: string, seq: number) => Uint8Array): Attack => ({
  name: `tinker: ${name}`,
  async attempt(client) {
    const body = make(client.run, ofRun);
    if ((await client.send('POST', `${API}/forward_backward`, { body, type: 'application/x-protobuf' })) !== null)
      ofRun++;
  },
});

const head = (run: string, seq: number) => createMessage().text(1, run).integer(2, seq).text(4, 'cross_entropy');

function sparseTensors(run: string, seq: number, name: (i: number) => string): Uint8Array {
  const empty = createMessage()
    .bytes(2, bytesOf(BigInt64Array.of(0n, 0n)))
    .done();
  const tensor = createMessage().message(2, empty).integer(3, 1).integers(4, [1, 8_000_000]).done();
  const request = head(run, seq);
  for (let i = 0; i < 150; i++) {
    const entry = createMessage().text(1, name(i)).message(2, tensor).done();
    request.message(3, createMessage().message(2, entry).done());
  }
  return request.done();
}

const tiny = once(() => new Uint8Array(15_000_000).fill(0x48));
const million = once(() => new Uint8Array(1_000_000).fill(1));

async function hello(client: HostileClient, make: () => Uint8Array): Promise<void> {
  const url = `${client.url.replace('http', 'ws')}/v1/workers/connect`;
  const headers = { authorization: `Bearer ${client.adminKey}` };
  const socket = new WebSocket(url, 'whetstone.worker.v1', { headers });
  socket.on('error', () => {});
  await new Promise<void>((resolve) => {
    socket.on('open', () => socket.send(make()));
    socket.on('close', (code) => (client.count(`closed ${code}`), resolve()));
    void delay(20_000).then(resolve);
  });
  socket.terminate();
}

const ENTRIES = once(() =>
  encode({
    kind: 'hello',
    protocol: 1,
    worker: { id: 'w', name: 'w', version: '1' },
    session: null,
    model: { id: 'whetstone/starter', configSha256: 'x', tokenizerSha256: 'x' },
    roles: Array(1_000_000).fill(7),
    sampler: null,
    trainer: null,
  }),
);
const DEEP = once(() => Buffer.concat([Buffer.alloc(1_000_000, 0x91), Buffer.from([0xc0])]));

export const tinkerAttacks = (): readonly Attack[] => [
  forward('sparse tensors that no loss reads', (run, seq) => sparseTensors(run, seq, (i) => `nonsense-${i}`)),
  forward('sparse tensors that the loss reads', (run, seq) => sparseTensors(run, seq, () => 'target_tokens')),
  forward('tiny fields', tiny),
  forward('tiny fields in a datum', (run, seq) => head(run, seq).message(3, tiny()).done()),
  forward('a shape of a million dimensions', (run, seq) =>
    head(run, seq).message(3, createMessage().message(4, million()).done()).done(),
  ),
  {
    name: 'tinker: samples that nobody fetches',
    clients: 4,
    attempt: (client) =>
      client.post(`${API}/asample`, {
        sampling_session_id: client.sampler,
        seq_id: ++operations,
        num_samples: 4,
        prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] },
        sampling_params: { max_tokens: 8 },
      }),
  },
  {
    name: 'tinker: sessions without end',
    clients: 4,
    attempt: (client) => client.post(`${API}/create_session`, { tags: Array(100).fill('x'.repeat(200)) }),
  },
  {
    name: 'tinker: sessions with as much of their own as is read, and lists of them',
    clients: 2,
    expected: '200',
    async attempt(client) {
      const user_metadata = { x: 'x'.repeat(65_000) };
      const made = await client.post(`${API}/create_session`, { user_metadata });
      if (made === null) return;
      const { session_id } = JSON.parse(made) as { session_id: string };
      const model = { session_id, model_seq_id: 0, base_model: client.model, user_metadata };
      await client.post(`${API}/create_model`, model);
      await client.send('GET', `${API}/training_runs?limit=1000`);
    },
  },
  {
    name: 'tinker: a session with more of its own than is read',
    expected: '422',
    attempt: (client) => client.post(`${API}/create_session`, { user_metadata: { x: 'x'.repeat(15_000_000) } }),
  },
  {
    name: 'tinker: telemetry of a million events',
    attempt: (client) => client.post(`${API}/telemetry`, TELEMETRY()),
  },
  { name: 'workers: a hello of a million entries', attempt: (client) => hello(client, ENTRIES) },
  { name: 'workers: a hello a million deep', attempt: (client) => hello(client, DEEP) },
];

const TELEMETRY = once(() => `{"events":[${'{},'.repeat(249_000)}{}]}`);
