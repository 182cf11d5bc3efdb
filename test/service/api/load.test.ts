// Many concurrent clients over real sockets: the same answers as alone, no errors, and nothing left by clients that disconnect.
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner, chat, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

let server: TestServer;
let base: string;
beforeAll(async () => {
  server = await openTestServer();
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const post = (fields: Readonly<Record<string, unknown>>, signal?: AbortSignal) =>
  fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...asOwner, 'content-type': 'application/json' },
    body: JSON.stringify(chat(fields)),
    ...(signal ? { signal } : {}),
  });

interface Answer {
  choices: { token_ids: number[] }[];
}

test('the same seed gives the same tokens alone and among 64 requests at once', async () => {
  const fields = (i: number) => ({
    messages: [{ role: 'user', content: `Question ${i % 7}` }],
    seed: i,
    temperature: 1,
    max_tokens: 4 + (i % 20),
    return_token_ids: true,
    ...(i % 5 === 0 ? { structured_outputs: { regex: '[a-z ]{1,12}' } } : {}),
    ...(i % 3 === 0 ? { frequency_penalty: 1, min_p: 0.01 } : {}),
  });
  const tokens = async (i: number) => ((await (await post(fields(i))).json()) as Answer).choices[0]!.token_ids;
  const together = await Promise.all(Array.from({ length: 64 }, (_, i) => tokens(i)));
  for (const [i, ids] of together.entries()) expect(await tokens(i), `request ${i}`).toEqual(ids);
});

test('512 concurrent streams all reach their end', { timeout: 120_000 }, async () => {
  const bodies = await Promise.all(
    Array.from({ length: 512 }, async (_, i) => (await post({ stream: true, seed: i, max_tokens: 12 })).text()),
  );
  const faults = bodies.filter((body) => !body.endsWith('data: [DONE]\n\n') || body.includes('"error"'));
  expect(faults.map((body) => body.slice(-300))).toEqual([]);
  for (const body of bodies) expect(body.match(/"finish_reason":"/g)).toHaveLength(1);
});

test(
  '256 of 512 streams disconnect: their slots are free at once, and the others finish',
  { timeout: 120_000 },
  async () => {
    const leaving = new AbortController();
    // None of those that leave may end before; the others are read from the beginning: a stream that nobody reads gives up its place.
    const stream = (seed: number, tokens: number, signal?: AbortSignal) =>
      post({ stream: true, seed, max_tokens: tokens, ignore_eos: true }, signal);
    const staying = Array.from({ length: 256 }, async (_, i) => (await stream(256 + i, 100)).text());
    const left = await Promise.all(Array.from({ length: 256 }, (_, i) => stream(i, 1_000, leaving.signal)));
    leaving.abort();
    const ends = await Promise.allSettled(left.map((response) => response.text()));
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    const faults = (await Promise.all(staying)).filter((text) => !text.endsWith('data: [DONE]\n\n'));
    expect(faults.map((text) => text.slice(-300))).toEqual([]);
    await expect.poll(() => server.model.inference.status()).toMatchObject({ running: 0, waiting: 0 });
    const { statusCode } = await send(server, { url: '/v1/chat/completions', body: chat() });
    expect(statusCode).toBe(200);
  },
);
