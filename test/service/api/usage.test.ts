import { expect, test } from 'vitest';
import { asOwner, BASE, chat, faults, shareTestServer, send } from '../../support/api/test-server.ts';

const server = await shareTestServer();

const url = '/v1/chat/completions';
interface UsageList {
  data: { id: string; model: string; project: string; date: string; api_key_id: string; requests: number }[];
  first_id: string;
  last_id: string;
  has_more: boolean;
  totals: {
    requests: number;
    prompt_tokens: number;
    cached_tokens: number;
    completion_tokens: number;
    total_tokens: number;
  };
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

test('pages follow one another, each with the totals of all', async () => {
  const all = await usage();
  const first = await usage('?limit=1');
  expect(first).toMatchObject({ data: [all.data[0]], has_more: true, totals: all.totals });
  expect([first.first_id, first.last_id]).toEqual([all.data[0]!.id, all.data[0]!.id]);
  const second = await usage(`?limit=1&after=${first.last_id}`);
  expect(second).toMatchObject({ data: [all.data[1]], has_more: false, totals: all.totals });
  expect(await usage('?after=unknown')).toMatchObject({ error: { code: 'invalid_request', param: 'after' } });
});

test('usage is listed separately by key, model and day', async () => {
  const { secret, key } = await server.apiKeys.create({ entity: 'team', name: 'theirs' });
  const headers = { authorization: `Bearer ${secret}` };
  await send(server, { url, headers, body: chat({ stream: true }) });
  server.clock.advance(24 * 60 * 60 * 1000);
  await send(server, { url, headers, body: chat() });
  const { data, totals } = await usage(`?api_key_id=${key.id}&model=${BASE}`, headers);
  expect(data.map(({ date, api_key_id, requests }) => [date, api_key_id, requests])).toEqual([
    ['2026-06-01', key.id, 1],
    ['2026-06-02', key.id, 1],
  ]);
  expect(totals.total_tokens).toBe(totals.prompt_tokens + totals.completion_tokens);
  expect((await usage('?api_key_id=another', headers)).totals.requests).toBe(0);
  expect((await usage('?model=another', headers)).totals.requests).toBe(0);
  expect((await usage('?start_date=2026-06-02&end_date=2026-06-02', headers)).totals.requests).toBe(1);
});

test('another entity sees none of it', async () => {
  const { secret } = await server.apiKeys.create({ entity: 'others', name: 'theirs' });
  expect((await usage('', { authorization: `Bearer ${secret}` })).totals.requests).toBe(0);
});

test('a project of another team is refused', async () => {
  const response = await send(server, { url, headers: { ...asOwner, 'vendor-project': 'others/x' }, body: chat() });
  expect(response.statusCode).toBe(401);
  expect(response.json()).toMatchObject({ error: { param: 'Vendor-Project' } });
});

test('invalid dates, and ranges that run backwards, are refused with their place in the query', async () => {
  const refused = async (query: string) => faults(await send(server, { url: `/v1/usage${query}` }));
  expect(await refused('?end_date=2026-02-30')).toEqual(['query.end_date string_pattern_mismatch']);
  expect(await refused('?limit=101')).toEqual(['query.limit less_than_equal']);
  expect(await refused('?start_date=yesterday')).toEqual(['query.start_date string_pattern_mismatch']);
  expect(await refused('?start_date=2026-06-02&end_date=2026-06-01')).toEqual(['query.end_date value_error']);
});
