// `npm run bench -- service`: what the HTTP service costs in addition to the model, and how it handles 512 streams, half of which disconnect.
// The whole server on the starter model; the peer for overhead is a bare Node server that sends the same bytes.
import { once, setMaxListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#base/log';
import { readServerConfig } from '../src/config/server-config.ts';
import { startServer } from '../src/main.ts';

const KEY = 'wk-bench';
const STREAMS = 512;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const agent = new Agent({ keepAlive: true, maxSockets: STREAMS });
const quantile = (xs: readonly number[], q: number): number =>
  [...xs].sort((a, b) => a - b)[Math.floor(xs.length * q)]!;

interface Sent {
  readonly body: string;
  readonly totalMs: number;
}

function post(base: string, fields: object, signal?: AbortSignal): Promise<Sent> {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const url = `${base}/v1/chat/completions`;
    const call = httpRequest(url, { method: 'POST', agent, headers, ...(signal ? { signal } : {}) }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ body: Buffer.concat(parts).toString(), totalMs: performance.now() - startMs }),
      );
    });
    call.on('error', reject);
    call.end(JSON.stringify({ messages: [{ role: 'user', content: 'Is two more than one?' }], ...fields }));
  });
}

/** Median milliseconds of requests that the server refuses at its last check, after all work except the model's. */
async function overhead(base: string): Promise<number> {
  const refused = { max_tokens: 4, logit_bias: { 999999: 1 } }; // not in the vocabulary: the engine's first check
  for (let i = 0; i < 300; i++) await post(base, refused);
  const times: number[] = [];
  for (let i = 0; i < 2_000; i++) times.push((await post(base, refused)).totalMs);
  return quantile(times, 0.5);
}

async function bareServer(): Promise<{ base: string; close: () => void }> {
  const server = createServer((incoming, outgoing) => {
    incoming
      .resume()
      .on('end', () => outgoing.writeHead(400, { 'content-type': 'application/json' }).end('{"detail":"bare"}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

async function streams(base: string) {
  const startMs = performance.now();
  const fields = {
    stream: true,
    max_tokens: 32,
    ignore_eos: true,
    temperature: 1,
    stream_options: { include_usage: true },
  };
  const bodies = await Promise.all(Array.from({ length: STREAMS }, (_, seed) => post(base, { ...fields, seed })));
  const seconds = (performance.now() - startMs) / 1000;
  const errors = bodies.filter(({ body }) => !body.endsWith('data: [DONE]\n\n') || body.includes('"error"')).length;
  const durationsMs = bodies.map(({ totalMs }) => totalMs);
  const tokensPerSecond = Math.round((STREAMS * 32) / seconds);
  return { errors, tokensPerSecond, p99Ms: Math.round(quantile(durationsMs, 0.99)) };
}

/** Half of the streams disconnect: how long until the other half, which shared the batch with them, is done. */
async function cancels(base: string) {
  const leaving = new AbortController();
  setMaxListeners(STREAMS, leaving.signal);
  const fields = { stream: true, max_tokens: 300, ignore_eos: true, temperature: 1 };
  const gone = Array.from({ length: STREAMS / 2 }, (_, seed) =>
    post(base, { ...fields, seed }, leaving.signal).catch(() => null),
  );
  const staying = Array.from({ length: STREAMS / 2 }, (_, seed) => post(base, { ...fields, max_tokens: 64, seed }));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const startMs = performance.now();
  leaving.abort();
  await Promise.all(gone);
  await Promise.all(staying);
  return { othersDoneMs: Math.round(performance.now() - startMs) };
}

const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-service-'));
const server = await startServer(
  readServerConfig({ data, port: '0', logLevel: 'silent' }, { WHETSTONE_API_KEY: KEY }),
  silentLog,
);
const bare = await bareServer();
const [bareMs, fullMs] = [await overhead(bare.base), await overhead(server.url)];
const result = {
  cpu: cpus()[0]?.model,
  node: process.version,
  overheadMs: { bare: bareMs, whetstone: fullMs, difference: fullMs - bareMs },
  streams: await streams(server.url),
  cancels: await cancels(server.url),
};
say(
  `a request without the model: ${fullMs.toFixed(2)} ms, a bare Node server ${bareMs.toFixed(2)} ms (medians of 2,000)`,
);
say(
  `${STREAMS} streams of 32 tokens: ${result.streams.errors} errors, ${result.streams.tokensPerSecond} tokens/s, p99 ${result.streams.p99Ms} ms`,
);
say(`${STREAMS / 2} of ${STREAMS} disconnect: the others finish ${result.cancels.othersDoneMs} ms later`);
await writeFile('bench/results/service.json', `${JSON.stringify(result, null, 2)}\n`);
bare.close();
await server.close();
agent.destroy();
await rm(data, { recursive: true, force: true });
