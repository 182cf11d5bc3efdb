// GET /v1/models as Anthropic's clients send it: their key header, fields, pages and errors. What the list has is models.test.ts.
import { describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { List } from '../../support/api/registered-model.ts';
import { BASE, send, shareTestServer } from '../../support/api/test-server.ts';
import { CONTEXT_LENGTH } from '../../support/api/tiny-chat-model.ts';

const server = await shareTestServer();

interface Page {
  has_more: boolean;
}

describe('GET /v1/models of Anthropic’s clients', () => {
  const version = { 'anthropic-version': '2023-06-01' };
  const keyHeader = async () => ({
    authorization: '',
    'x-api-key': (await server.apiKeys.create({ entity: createId(), name: 'theirs' })).secret,
  });
  const get = async (query: string) =>
    send(server, { url: `/v1/models${query}`, headers: { ...(await keyHeader()), ...version } });

  test('takes their key header, and has what their model objects require', async () => {
    const line = { id: BASE, type: 'model', display_name: BASE, lifecycle: 'active', max_input_tokens: CONTEXT_LENGTH };
    const list = (await get('')).json<{ data: { created: number; created_at: string }[] }>();
    expect(list).toMatchObject({ data: [line], has_more: false, last_id: BASE });
    expect(Math.floor(Date.parse(list.data[0]!.created_at) / 1000)).toBe(list.data[0]!.created);
    expect((await get(`/${BASE}`)).json()).toMatchObject(line);
  });

  test('has pages, a filter that leaves nothing, and errors of their form', async () => {
    expect((await get(`?limit=20&after_id=${BASE}&lifecycle[]=active`)).json()).toMatchObject({ data: [] });
    expect((await get('?lifecycle[]=active&lifecycle[]=retired')).json<List>().data).toHaveLength(1);
    expect((await get('?lifecycle[]=retired')).json()).toMatchObject({ data: [], has_more: false });
    const missing = await get('/absent');
    expect(missing.headers['request-id']).toBe(missing.headers['x-request-id']);
    expect(missing.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
    for (const query of ['?limit=0', '?before_id=absent', `?before_id=${BASE}&after_id=${BASE}`]) {
      const wrong = await get(query);
      expect(wrong.statusCode, query).toBe(400);
      expect(wrong.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    }
  });

  test('pages go on after a line, and back before one', async () => {
    const entity = createId();
    const { secret } = await server.apiKeys.create({ entity, name: 'theirs' });
    const headers = { authorization: `Bearer ${secret}`, ...version };
    const all = [BASE];
    for (const name of ['a', 'b', 'c']) {
      const body = { project: 'p', name, base_model: BASE };
      expect((await send(server, { url: '/v1/preview/models', headers, body })).statusCode).toBe(200);
      all.push(`wandb-artifact:///${entity}/p/${name}`);
    }
    const page = async (query: string) => {
      const { data, ...rest } = (await send(server, { url: `/v1/models?${query}`, headers })).json<List & Page>();
      return [data.map(({ id }) => id), rest.has_more] as const;
    };
    const [base, a, b, c] = all;
    for (const limit of [1, 2, 3]) {
      const forward = [await page(`limit=${limit}`)];
      while (forward.at(-1)![1]) forward.push(await page(`limit=${limit}&after_id=${forward.at(-1)![0].at(-1)}`));
      expect(forward.flatMap(([ids]) => ids)).toEqual(all);
      expect(forward.slice(0, -1).every(([ids]) => ids.length === limit)).toBe(true);

      const back = [await page(`limit=${limit}&before_id=${c}`)];
      while (back[0]![1]) back.unshift(await page(`limit=${limit}&before_id=${back[0]![0][0]}`));
      expect(back.flatMap(([ids]) => ids)).toEqual([base, a, b]);
      expect(back.slice(1).every(([ids]) => ids.length === limit)).toBe(true);
    }
    expect(await page(`before_id=${base}`)).toEqual([[], false]);
    expect(await page('limit=4')).toEqual([all, false]);
    expect(await page(`limit=1&after=${base}`)).toEqual([[a], true]);
    expect(await page('archived=only')).toEqual([[], false]);
    expect(await page(`steps_of=p/a&before_id=${a}:step0`)).toEqual([[], false]);
  });

  test('is OpenAI’s without their version: another key header, and 422', async () => {
    expect((await send(server, { url: '/v1/models', headers: await keyHeader() })).statusCode).toBe(401);
    expect((await send(server, { url: '/v1/models?limit=0' })).statusCode).toBe(422);
  });
});
