// Webhooks as their owner creates, lists and deletes them. webhooks.test.ts tests deliveries.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WEBHOOKS_MAX } from '#services/webhooks/webhooks';
import { containing, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

/** Nothing listens there. */
const RECEIVER = 'http://127.0.0.1:9/hook';

interface WireWebhook {
  readonly id: string;
  readonly secret: string;
  readonly disabled_at: string | null;
}

let server: TestServer;
beforeEach(async () => void (server = await openTestServer()));
afterEach(() => server.close());

async function register(fields: Record<string, unknown> = {}, headers = {}): Promise<WireWebhook> {
  const response = await send(server, {
    url: '/v1/webhooks',
    body: { url: RECEIVER, ...fields },
    headers,
  });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

const list = async () => (await send(server, { url: '/v1/webhooks' })).json<{ data: WireWebhook[] }>().data;

describe('a webhook', () => {
  test('shows its secret once, is listed and deleted', async () => {
    const made = await register({ events: ['training_job.failed', 'training_job.succeeded', 'training_job.failed'] });
    expect(made).toMatchObject({
      object: 'webhook',
      url: RECEIVER,
      events: ['training_job.succeeded', 'training_job.failed'],
      disabled_at: null,
    });
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { secret: _, ...shown } = made;
    expect(await list()).toEqual([shown]);
    const url = `/v1/webhooks/${made.id}`;
    expect((await send(server, { method: 'DELETE', url })).json()).toEqual({
      id: made.id,
      object: 'webhook',
      deleted: true,
    });
    const again = await send(server, { method: 'DELETE', url });
    expect(again.statusCode).toBe(404);
    expect(again.json()).toMatchObject({
      error: { code: 'not_found', message: `No webhook ${made.id}. List yours with GET /v1/webhooks.` },
    });
    expect(await list()).toEqual([]);
  });

  test.each([
    ['neither https: nor http:', 400, { url: 'ftp://example.com' }],
    ['user name or password', 400, { url: 'https://me:secret@example.com/' }],
    ['link-local or cloud metadata', 400, { url: 'http://169.254.169.254/latest/' }],
    ['--allowed-webhook-network', 400, { url: 'http://10.0.0.7/' }],
    ['at most 2000 characters', 422, { url: `https://example.com/${'x'.repeat(2_000)}` }],
    ['at least 1 item', 422, { url: 'https://example.com/', events: [] }],
    ["'training_job.succeeded'", 422, { url: 'https://example.com/', events: ['job.done'] }],
    ['Field required', 422, { events: ['training_job.failed'] }],
  ])('is refused with "%s", %i', async (message, status, body) => {
    const response = await send(server, { url: '/v1/webhooks', body });
    expect([response.statusCode, response.body]).toEqual([status, containing(message)]);
    expect(await list()).toEqual([]);
  });

  test('is one of at most twenty', async () => {
    for (let i = 0; i < WEBHOOKS_MAX; i++) await register();
    const refused = await send(server, { url: '/v1/webhooks', body: { url: RECEIVER } });
    expect([refused.statusCode, refused.headers['retry-after'], refused.body]).toEqual([
      429,
      '60',
      containing('20 webhooks'),
    ]);
    await send(server, { method: 'DELETE', url: `/v1/webhooks/${(await list())[0]!.id}` });
    await register();
  });
});
