import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from './client.ts';

const SHARED = Symbol.for('undici.globalDispatcher.1');
type Shared = object & { readonly constructor: new (options: { readonly headersTimeout: number }) => Shared };
const holder = globalThis as { [SHARED]?: Shared };

const SLOW_MS = 3_000; // undici looks at its timers once a second
const server = createServer((_request, response) => setTimeout(() => response.end('{"data":[]}'), SLOW_MS));
let url = '';
let before: Shared;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await fetch('data:,');
  before = holder[SHARED]!;
  holder[SHARED] = new before.constructor({ headersTimeout: 100 }); // in place of five minutes
});

afterAll(() => {
  holder[SHARED] = before;
  server.closeAllConnections();
  server.close();
});

test('an answer may begin later than Node lets others', { timeout: 20_000 }, async () => {
  const client = createClient({ baseUrl: url, apiKey: 'k' });
  const [others, ours] = await Promise.allSettled([fetch(url), client.listBaseModels()]);
  expect(others).toMatchObject({ status: 'rejected', reason: { cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } } });
  expect(ours).toMatchObject({ status: 'fulfilled' });
});
