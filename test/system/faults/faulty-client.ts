// A client with its own records: what was acknowledged, which events it has seen, how each request ended. It repeats
// unacknowledged requests under the same Idempotency-Key, as real clients do.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';
import type { Faults } from './faults.ts';
import { STALL_MS } from './faulty-server.ts';

/** A request that takes longer hangs: no training happens while a client waits. */
const REQUEST_MS_MAX = 15_000;
/** Errors of an unavailable server, after which a client retries. */
const PASSING = new Set([
  'storage_unavailable',
  'idempotency_in_progress',
  'rate_limit_exceeded',
  'engine_unavailable',
]);

export interface Answer {
  readonly status: number;
  readonly json: unknown;
  readonly bytes: Buffer;
}

export interface FaultyClient {
  /** Until it is acknowledged. Throws if a request hangs, or fails without a named cause. */
  send(method: string, path: string, body?: string | object): Promise<Answer>;
  /** How requests ended, by status and code. */
  readonly endings: ReadonlyMap<string, number>;
  /** Resolves once the server has closed every half-open connection; returns how many were late. */
  halfOpenLeft(): Promise<number>;
}

export function createFaultyClient(url: () => string, faults: Faults): FaultyClient {
  const endings = new Map<string, number>();
  const halfOpen: Promise<boolean>[] = [];
  const count = (ending: string) => endings.set(ending, (endings.get(ending) ?? 0) + 1);

  async function once(method: string, path: string, body: string | undefined, key: string): Promise<Answer | null> {
    const base = url();
    let response: Response;
    let bytes: Buffer;
    try {
      response = await fetch(`${base}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${BOOTSTRAP_KEY}`,
          'idempotency-key': key,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(REQUEST_MS_MAX),
      });
      bytes = Buffer.from(await response.arrayBuffer());
    } catch (error) {
      if ((error as Error).name === 'TimeoutError')
        throw new Error(`${method} ${path} hung. Before: ${faults.recent.join('; ')}`);
      count('connection lost');
      return null;
    }
    const text = bytes.toString('utf8');
    const json: unknown = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null;
    if (response.ok) {
      count('ok');
      return { status: response.status, json, bytes };
    }
    const code = (json as { error?: { code?: string } } | null)?.error?.code ?? 'none';
    count(`${response.status} ${code}`);
    if (PASSING.has(code)) return null;
    throw new Error(`${method} ${path}: ${response.status} ${text}. Before: ${faults.recent.join('; ')}`);
  }

  return {
    endings,
    async send(method, path, body) {
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      const key = randomUUID();
      for (;;) {
        if (faults.next(`${method} ${path}`, ['half-open socket']) !== null)
          halfOpen.push(leaveHalfOpen(url(), method));
        const answer = await once(method, path, text, key);
        if (answer) return answer;
        await sleep(10);
      }
    },
    halfOpenLeft: async () => (await Promise.all(halfOpen)).filter((closed) => !closed).length,
  };
}

/** Half a request, and then nothing. True: the server closed the connection in time. */
async function leaveHalfOpen(url: string, method: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
  socket.on('error', () => {});
  socket.resume();
  socket.write(
    `${method === 'GET' ? 'POST' : method} /v1/preview/training-jobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${BOOTSTRAP_KEY}\r\n` +
      'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model_id":',
  );
  return Promise.race([closed, sleep(20 * STALL_MS, false)]).finally(() => socket.destroy());
}
