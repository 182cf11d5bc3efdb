// An S3-compatible store behind a faulty connection: a real store, and a proxy that by a seed refuses connections, answers 500 or
// 503, stalls, cuts bodies and flips bits of objects in transit. The stored data stays intact.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import S3rver from 's3rver';
import { createRandom } from '#base/random';

export type LineFault =
  | 'refused' // nobody listens for a while
  | '500'
  | '503'
  | 'stalled' // no answer, ever
  | 'stalled halfway'
  | 'request cut'
  | 'answer lost' // done, but nobody hears of it
  | 'cut halfway'
  | 'bit flipped';

export interface FaultyS3 {
  /** `s3rver` knows one key: its id and secret are S3RVER. */
  readonly endpoint: string;
  readonly bucket: string;
  /** From now on this share of requests fails; resolves once the proxy listens again. 0: no faults. */
  begin(seed: number, rate: number): Promise<void>;
  /** One fault for each request that `match` accepts, `times` times, instead of the plan. */
  next(fault: LineFault, times: number, match?: (request: IncomingMessage) => boolean): void;
  readonly counts: ReadonlyMap<LineFault, number>;
  total(): number;
  close(): Promise<void>;
}

const REFUSED_MS = 150;

export async function startFaultyS3(directory: string): Promise<FaultyS3> {
  await mkdir(directory, { recursive: true });
  const bucket = 'b';
  const store = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port: storePort } = await store.run();
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const counts = new Map<LineFault, number>();
  let random = createRandom(0);
  let rate = 0;
  let planned: { fault: LineFault; times: number; match: (request: IncomingMessage) => boolean } | null = null;

  const proxy = createServer((asked, answer) => void handle(asked, answer));
  proxy.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const hangUp = () => sockets.forEach((socket) => socket.destroy());

  function choose(asked: IncomingMessage): LineFault | null {
    const { kinds, frequency } = faultsOf(asked);
    let fault: LineFault | null = null;
    if (planned !== null) {
      if (planned.times > 0 && planned.match(asked)) {
        planned.times--;
        fault = planned.fault;
      }
    } else if (random.next() < rate * frequency) {
      const unseen = kinds.filter((kind) => !counts.has(kind));
      const from = unseen.length > 0 ? unseen : kinds;
      fault = from[random.integer(from.length)]!;
    }
    if (fault !== null) counts.set(fault, (counts.get(fault) ?? 0) + 1);
    return fault;
  }

  async function handle(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const fault = choose(asked);
    if (fault === 'refused') return refuseAWhile();
    if (fault === 'request cut') return void asked.once('data', () => asked.socket.destroy());
    if (fault === 'stalled') return void asked.resume();
    if (fault === '500' || fault === '503') {
      asked.resume();
      const code = fault === '500' ? 'InternalError' : 'SlowDown';
      answer.writeHead(Number(fault), { 'content-type': 'application/xml' });
      return void answer.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>Try again.</Message></Error>`);
    }
    const { method, url, rawHeaders: headers } = asked;
    const passed = request({ host: '127.0.0.1', port: storePort, method, path: url, headers, agent });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
    const [got] = (await once(passed, 'response').catch(() => [null])) as [IncomingMessage | null];
    if (!got) return;
    const parts: Buffer[] = [];
    for await (const part of got) parts.push(part as Buffer);
    if (fault === 'answer lost') return void asked.socket.destroy();
    const body = Buffer.concat(parts);
    const isHalf = fault === 'cut halfway' || fault === 'stalled halfway';
    if (fault === 'bit flipped' && body.length > 0) {
      const at = random.integer(body.length);
      body[at] = body[at]! ^ (1 << random.integer(8));
    }
    answer.writeHead(got.statusCode!, got.rawHeaders);
    if (!isHalf) return void answer.end(body);
    answer.flushHeaders();
    answer.write(body.subarray(0, Math.ceil(body.length / 2)), () => {
      if (fault === 'cut halfway') asked.socket.destroy();
    });
  }

  /** Requests in flight break off, and new connections are refused meanwhile. */
  function refuseAWhile(): void {
    hangUp();
    if (!proxy.listening) return;
    proxy.close();
    setTimeout(() => proxy.listen(port, '127.0.0.1'), REFUSED_MS);
  }

  const listening = async () => void (proxy.listening || (await once(proxy, 'listening')));

  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    async begin(seed, newRate) {
      random = createRandom(seed);
      rate = newRate;
      planned = null;
      await listening();
    },
    next(fault, times, match = () => true) {
      planned = { fault, times, match };
    },
    counts,
    total: () => [...counts.values()].reduce((sum, each) => sum + each, 0),
    async close() {
      await listening();
      const closed = once(proxy, 'close');
      proxy.close();
      hangUp();
      await closed;
      agent.destroy();
      await store.close();
    },
  };
}

const ANYWHERE: readonly LineFault[] = ['refused', '500', '503', 'stalled', 'answer lost'];

/** Lists and errors carry no checksum to verify, objects do. Objects are read less often than lists. */
function faultsOf({ method, url }: IncomingMessage): { kinds: readonly LineFault[]; frequency: number } {
  if (method === 'PUT') return { kinds: [...ANYWHERE, 'request cut'], frequency: 1 };
  if (method !== 'GET') return { kinds: ANYWHERE, frequency: 1 };
  if (url!.includes('list-type=')) return { kinds: [...ANYWHERE, 'cut halfway', 'stalled halfway'], frequency: 1 };
  return { kinds: [...ANYWHERE, 'cut halfway', 'stalled halfway', 'bit flipped', 'bit flipped'], frequency: 3 };
}
