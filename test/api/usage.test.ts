import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner, BASE, chat, faults, openTestServer, send, type TestServer } from './test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer();
});
afterAll(() => server.close());

const url = '/v1/chat/completions';
interface UsageList {
  data: { model: string; project: string; date: string; requests: number }[];
  totals: { requests: number; prompt_tokens: number; cached_tokens: number; completion_tokens: number };
}
const usage = async (query = '', headers = {}) =>
  (await send(server, { url: `/v1/usage${query}`, headers })).json<UsageList>();

test('whole answers and streams are counted to the token, by project', async () => {
  const answer = await send(server, { url, body: chat({ n: 2 }) });
  const { usage: used } = answer.json<{ usage: { prompt_tokens: number; completion_tokens: number } }>();
  await send(server, { url, headers: { 'vendor-project': 'default/research' }, body: chat({ n: 2, stream: true }) });
  await send(server, { url, headers: { 'openai-project': 'research' }, body: chat() });
  const all = await usage();
  expect(all.totals).toMatchObject({ requests: 3, prompt_tokens: 3 * used.prompt_tokens });
  expect(all.data.map(({ project, requests }) => `${project} ${requests}`).toSorted()).toEqual([' 1', 'research 2']);
  expect(all.data.every(({ model, date }) => model === BASE && date === '2026-06-01')).toBe(true);
  expect((await usage('?project=')).totals).toMatchObject({ requests: 1, completion_tokens: used.completion_tokens });
  expect((await usage('?start_date=2026-06-02')).data).toEqual([]);
});

test('another entity sees nothing of it', async () => {
  const { secret } = await server.apiKeys.create({ entity: 'others', name: 'theirs' });
  expect((await usage('', { authorization: `Bearer ${secret}` })).totals.requests).toBe(0);
});

test('a project of another team is refused', async () => {
  const response = await send(server, { url, headers: { ...asOwner, 'vendor-project': 'others/x' }, body: chat() });
  expect(response.statusCode).toBe(401);
  expect(response.json()).toMatchObject({ error: { param: 'Vendor-Project' } });
});

test('days that are none, or run backwards, are refused by place', async () => {
  const refused = async (query: string) => faults(await send(server, { url: `/v1/usage${query}` }));
  expect(await refused('?start_date=yesterday')).toEqual(['query.start_date string_pattern_mismatch']);
  expect(await refused('?start_date=2026-06-02&end_date=2026-06-01')).toEqual(['query.end_date value_error']);
});
