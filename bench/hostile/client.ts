// What all attacks share: requests and bare connections of one malicious client with a key of its own, and counts of how they ended. It
// ignores what answers say, and does not know which attack it is used for.
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { createRandom } from '#base/random';

export type Random = ReturnType<typeof createRandom>;

/** How often each outcome came: a status, `connection lost`, `no answer`, `gone`, `closed by the server`. */
export type Endings = Map<string, number>;

/** One kind of malice. `attempt` runs again and again, in each of `clients` clients, for as long as the attack lasts. */
export interface Attack {
  readonly name: string;
  readonly clients?: number;
  /** An ending that must come: without it the attack did not reach what it is after. */
  readonly expected?: string;
  attempt(client: HostileClient, random: Random): Promise<unknown>;
}

/** What exists in the server for attacks on it. */
export interface Target {
  readonly url: string;
  readonly key: string;
  /** Of an administrator: for what the protocol of workers allows. */
  readonly adminKey: string;
  readonly model: string;
  /** The id of a registered model. */
  readonly pupil: string;
  /** The id of a stored response with many items. */
  readonly response: string;
  /** A file that is stored, and the artifact version that has it. */
  readonly rows: { readonly uri: string; readonly sha256: string };
  /** A Tinker training run. */
  readonly run: string;
  readonly sampler: string;
}

export interface Sending {
  readonly body?: string | Uint8Array;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HostileClient extends Target {
  readonly goesOn: () => boolean;
  /** The text of a good answer; null: it was refused, or none came. */
  send(method: string, path: string, sending?: Sending): Promise<string | null>;
  post(path: string, body: unknown): Promise<string | null>;
  chat(fields: object): Promise<string | null>;
  /** A connection of its own, destroyed when `use` has ended. */
  onSocket(use: (socket: Socket) => Promise<unknown>): Promise<void>;
  head(method: string, path: string, length: number, type?: string): string;
  /** Returns early when the attack is over. */
  hold(ms: number): Promise<void>;
  count(end: string): void;
}

/** The longest wait for one answer. */
const ANSWER_MS_MAX = 120_000;

export function createHostileClient(target: Target, endings: Endings, goesOn: () => boolean): HostileClient {
  const count = (end: string) => void endings.set(end, (endings.get(end) ?? 0) + 1);
  async function send(method: string, path: string, { body, type = 'application/json', headers }: Sending = {}) {
    try {
      const answer = await fetch(`${target.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${target.key}`, 'content-type': type, ...headers },
        body: body ?? null,
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      const text = await answer.text();
      count(String(answer.status));
      return answer.ok ? text : null;
    } catch (error) {
      count((error as Error).name === 'TimeoutError' ? 'no answer' : 'connection lost');
      return null;
    }
  }
  const post = (path: string, body: unknown) =>
    send('POST', path, { body: typeof body === 'string' ? body : JSON.stringify(body) });
  return {
    ...target,
    goesOn,
    count,
    send,
    post,
    chat: (fields) => post('/v1/chat/completions', { model: target.model, messages: HI, max_tokens: 1, ...fields }),
    async onSocket(use) {
      const { hostname, port } = new URL(target.url);
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      await use(socket);
      count(socket.destroyed ? 'closed by the server' : 'gone');
      socket.destroy();
    },
    head: (method, path, length, type = 'application/json') =>
      `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${target.key}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`,
    async hold(ms) {
      for (let past = 0; past < ms && goesOn(); past += 100) await delay(100);
    },
  };
}

export const HI = [{ role: 'user', content: 'Hi' }];

export const oneOf = <T>(list: readonly T[], random: Random): T => list[random.integer(list.length)]!;

/** The same bodies again and again: they are made once. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
