// Webhooks end to end: registered over HTTP, sent to a real receiver when jobs end, retried until they are delivered. The
// clock stands still; a retry happens when a test advances it.
import { isIP } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { createWebhookPost, type PostWebhook } from '#services/webhooks/webhook-post';
import { createWebhookSender, type WebhookSender } from '#services/webhooks/webhook-sender';
import { WEBHOOKS_MAX } from '#services/webhooks/webhooks';
import { freePort } from '../../support/free-port.ts';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import {
  BASE,
  containing,
  LOOPBACK_WEBHOOKS,
  openTestServer,
  send,
  type TestServer,
} from '../../support/api/test-server.ts';
import { isSigned, openReceiver, type Receiver } from './webhook-receiver.ts';

const HOUR_MS = 3_600_000;

interface WireWebhook {
  readonly id: string;
  readonly secret: string;
  readonly disabled_at: string | null;
}

interface WireDelivery {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

let server: TestServer;
let receiver: Receiver;
let log: ReturnType<typeof createRecordingLog>;
const senders: WebhookSender[] = [];

beforeEach(async () => {
  server = await openTestServer();
  receiver = await openReceiver();
  log = createRecordingLog();
});
afterEach(async () => {
  for (const sender of senders.splice(0)) await sender.stop();
  await receiver.close();
  await server.close();
});

function startSender(post: PostWebhook = createWebhookPost(LOOPBACK_WEBHOOKS)): WebhookSender {
  const { storage, jobEvents, clock } = server;
  const sender = createWebhookSender({ store: storage.webhooks, jobEvents, clock, log, post });
  senders.push(sender);
  sender.start();
  return sender;
}

async function register(fields: Record<string, unknown> = {}, headers = {}): Promise<WireWebhook> {
  const response = await send(server, { url: '/v1/webhooks', body: { url: receiver.url, ...fields }, headers });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

const list = async () => (await send(server, { url: '/v1/webhooks' })).json<{ data: WireWebhook[] }>().data;
const deliveries = async ({ id }: WireWebhook) =>
  (await send(server, { url: `/v1/webhooks/${id}/deliveries` })).json<{ data: WireDelivery[] }>().data;

/** Submitted and cancelled over HTTP. */
async function cancelJob(headers = {}): Promise<string> {
  const post = async (url: string, body: unknown) =>
    (await send(server, { url, body, headers })).json<{ id: string }>().id;
  const model_id = await post('/v1/preview/models', { project: 'p', name: createId(), base_model: BASE });
  const job = await post('/v1/preview/training-jobs', { model_id, trajectory_groups: [] });
  await post(`/v1/preview/training-jobs/${job}/cancel`, {});
  return job;
}

/** Advances the clock and runs the sender. */
function wait(ms: number): void {
  server.clock.advance(ms);
  server.jobEvents.notify('time');
}

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 5));
}
const attempted = (webhook: WireWebhook, attempts: number) =>
  until(async () => (await deliveries(webhook)).every((delivery) => delivery.attempts === attempts));

describe('when a job ends', () => {
  test('its receiver gets a signed request at once, and the log shows it', async () => {
    startSender();
    const webhook = await register({ url: `${receiver.url}/hook?a=1` });
    const job = await cancelJob();
    await receiver.calls(1);
    const [call] = receiver.received;
    expect(call).toMatchObject({ path: '/hook?a=1', headers: { 'content-type': 'application/json' } });
    expect(isSigned(call!, webhook.secret)).toBe(true);
    expect(isSigned({ ...call!, body: `${call!.body} ` }, webhook.secret)).toBe(false);
    expect(call!.headers['webhook-timestamp']).toBe(String(server.clock.now() / 1000));
    expect(JSON.parse(call!.body)).toMatchObject({
      type: 'training_job.cancelled',
      timestamp: new Date(server.clock.now()).toISOString(),
      data: { id: job, type: 'rl', status: 'cancelled', step: null, error_message: 'cancelled' },
    });
    await attempted(webhook, 1);
    expect(await deliveries(webhook)).toMatchObject([
      {
        id: call!.headers['webhook-id'],
        training_job_id: job,
        event: 'training_job.cancelled',
        status: 'delivered',
        last_status: 200,
        next_attempt_at: null,
      },
    ]);
    expect(log.lines).toMatchObject([
      {
        level: 'info',
        event: 'webhook.delivered',
        fields: { webhookId: webhook.id, jobId: job, type: 'training_job.cancelled', status: 200, attempt: 1 },
      },
    ]);
    for (const secret of [webhook.secret, 'error_message', 'hook?a=1'])
      expect(JSON.stringify(log.lines)).not.toContain(secret);
  });

  test('only its own entity is notified, and only of the events it asked for', async () => {
    startSender();
    const others = await server.apiKeys.create({ entity: 'others', name: 'test', scopes: ['admin'] });
    const asOthers = { authorization: `Bearer ${others.secret}` };
    await register({ url: `${receiver.url}/others` }, asOthers);
    await register({ url: `${receiver.url}/failures`, events: ['training_job.failed'] });
    await register({ url: `${receiver.url}/ours` });
    await cancelJob();
    await receiver.calls(1);
    await cancelJob(asOthers);
    await receiver.calls(2);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/ours', '/others']);
  });
});

describe('a receiver that fails', () => {
  test('gets the same call again until it accepts it: refused connections, then 500, then 200', async () => {
    const port = await freePort();
    const webhook = await register({ url: `http://127.0.0.1:${port}/` });
    startSender();
    await cancelJob();
    await attempted(webhook, 1);
    expect(await deliveries(webhook)).toMatchObject([
      { status: 'pending', last_status: null, last_error: 'not reached' },
    ]);
    const late = await openReceiver(port);
    late.answer = 500;
    try {
      wait(4_000); // too early
      wait(1_600);
      await late.calls(1);
      await attempted(webhook, 2);
      expect(await deliveries(webhook)).toMatchObject([
        { status: 'pending', last_status: 500, last_error: 'answered 500' },
      ]);
      late.answer = 200;
      wait(330_000);
      await late.calls(2);
      await attempted(webhook, 3);
      expect(await deliveries(webhook)).toMatchObject([{ status: 'delivered', last_status: 200, last_error: null }]);
      const [first, second] = late.received;
      expect(second!.body).toBe(first!.body);
      expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
      expect(second!.headers['webhook-timestamp']).not.toBe(first!.headers['webhook-timestamp']);
      for (const call of late.received) expect(isSigned(call, webhook.secret)).toBe(true);
    } finally {
      await late.close();
    }
  });

  test('gets no more calls after ten attempts, until the owner requests another one', async () => {
    receiver.answer = 503;
    startSender();
    const webhook = await register();
    await cancelJob();
    for (let attempts = 1; attempts <= 10; attempts++) {
      await attempted(webhook, attempts);
      wait(30 * HOUR_MS);
    }
    const [given] = await deliveries(webhook);
    expect(given).toMatchObject({ status: 'failed', attempts: 10, next_attempt_at: null });
    receiver.answer = 204;
    const url = `/v1/webhooks/${webhook.id}/deliveries/${given!.id}/redeliver`;
    expect((await send(server, { method: 'POST', url })).json()).toMatchObject({ id: given!.id, status: 'pending' });
    await attempted(webhook, 11);
    expect(await deliveries(webhook)).toMatchObject([{ status: 'delivered', last_status: 204 }]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([given!.id]));
    expect((await send(server, { method: 'POST', url: url.replace('msg_', 'gsm_') })).statusCode).toBe(404);
  });

  test('with 410 Gone gets nothing more', async () => {
    receiver.answer = 410;
    startSender();
    const webhook = await register();
    await cancelJob();
    await until(async () => (await list())[0]!.disabled_at !== null);
    await cancelJob();
    wait(48 * HOUR_MS);
    const [only, ...more] = await deliveries(webhook);
    expect([only, more]).toMatchObject([{ status: 'failed', last_status: 410, attempts: 1 }, []]);
    expect(receiver.received).toHaveLength(1);
    const url = `/v1/webhooks/${webhook.id}/deliveries/${only!.id}/redeliver`;
    const refused = await send(server, { method: 'POST', url });
    expect([refused.statusCode, refused.body]).toEqual([400, containing('410 Gone')]);
  });

  test('and redirects is not followed', async () => {
    const other = await openReceiver();
    try {
      receiver.answer = (response) => void response.writeHead(307, { location: other.url }).end();
      startSender();
      const webhook = await register();
      await cancelJob();
      await attempted(webhook, 1);
      expect(await deliveries(webhook)).toMatchObject([{ status: 'pending', last_status: 307 }]);
      expect(other.received).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('and answers without end, or hangs up, delays no other call', async () => {
    receiver.answer = (response) => {
      response.writeHead(200);
      const pour = () => void (response.destroyed || (response.write('x'.repeat(65_536)), setImmediate(pour)));
      pour();
    };
    startSender();
    const webhook = await register();
    await cancelJob();
    await attempted(webhook, 1);
    expect(await deliveries(webhook)).toMatchObject([{ status: 'delivered', last_status: 200 }]);
    receiver.answer = (response) => response.socket?.destroy();
    server.clock.advance(1); // newer than the first
    await cancelJob();
    await until(async () => (await deliveries(webhook))[0]!.attempts === 1);
    expect(await deliveries(webhook)).toMatchObject([{ last_status: null, last_error: 'not reached' }, {}]);
  });

  test('behind a host name is called at its address, unless webhooks may not go there', async () => {
    let addresses = ['169.254.169.254', '10.0.0.7'];
    const resolved: string[] = [];
    const post = createWebhookPost(LOOPBACK_WEBHOOKS, (hostname, _, callback) => {
      resolved.push(hostname);
      if (addresses.length === 0) callback(Object.assign(new Error(), { code: 'ENOTFOUND' }), []);
      else
        callback(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        );
    });
    startSender(post);
    const webhook = await register({ url: receiver.url.replace('127.0.0.1', 'receiver.example') });
    await cancelJob();
    await attempted(webhook, 1);
    expect(await deliveries(webhook)).toMatchObject([{ status: 'pending', last_error: 'not reached' }]);
    addresses = [];
    wait(HOUR_MS);
    await attempted(webhook, 2);
    expect(await deliveries(webhook)).toMatchObject([{ status: 'pending', last_error: 'not reached' }]);
    expect(receiver.received).toEqual([]);
    addresses = ['10.0.0.7'];
    wait(HOUR_MS);
    await attempted(webhook, 3);
    const causes = log.lines.filter(({ event }) => event === 'webhook.failed').map(({ fields }) => fields?.cause);
    const refused = 'an address where webhooks may not go';
    expect(causes).toEqual([refused, 'name not found', refused]); // for the operator
    addresses = ['169.254.169.254', '::1', '127.0.0.1']; // only the last one is allowed here
    wait(HOUR_MS);
    await attempted(webhook, 4);
    expect(await deliveries(webhook)).toMatchObject([{ status: 'delivered' }]);
    expect(resolved).toEqual(Array(4).fill('receiver.example')); // once per call
    // As if such a URL had reached the database in another way.
    const metadata = post('http://[::ffff:169.254.169.254]/', {}, '{}', AbortSignal.timeout(5_000));
    await expect(metadata).rejects.toMatchObject({ code: 'REFUSED_ADDRESS' });
  });
});

describe('a server that dies', () => {
  test('before or while it sends leaves the same call to the next one', async () => {
    const webhook = await register();
    const before = await cancelJob(); // no sender runs yet
    const [recorded] = (await server.storage.webhooks.listDeliveries(webhook.id, { after: null, limit: 9 })).rows;
    let called = () => {};
    const calling = new Promise<void>((resolve) => (called = resolve));
    const dying = startSender(() => (called(), new Promise(() => {}))); // claims, calls, and never returns
    senders.length = 0;
    await calling;
    void dying.stop();
    startSender();
    wait(20_000); // the dead server's lease
    expect(receiver.received).toEqual([]);
    wait(10_000);
    await receiver.calls(1);
    await attempted(webhook, 1);
    const [call] = receiver.received;
    expect([call!.body, call!.headers['webhook-id']]).toEqual([recorded!.payload, recorded!.id]);
    expect(JSON.parse(call!.body)).toMatchObject({ data: { id: before } });
    expect(isSigned(call!, webhook.secret)).toBe(true);
  });

  test('in an orderly way releases the calls it had begun', async () => {
    receiver.answer = () => {}; // no answer at all
    const webhook = await register();
    const sender = startSender();
    await cancelJob();
    await receiver.calls(1);
    await sender.stop();
    expect(await deliveries(webhook)).toMatchObject([{ status: 'pending', attempts: 0 }]);
    receiver.answer = 200;
    startSender();
    await receiver.calls(2);
    await attempted(webhook, 1);
    expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
  });

  test('while its database fails retries, and logs that once', async () => {
    const webhook = await register();
    const { webhooks } = server.storage;
    const claimDue = webhooks.claimDue.bind(webhooks);
    let failures = 2;
    webhooks.claimDue = async (...args) => {
      if (failures-- > 0) throw new Error('disk full');
      return claimDue(...args);
    };
    startSender();
    await cancelJob();
    await receiver.calls(1);
    await attempted(webhook, 1);
    const said = log.lines.map(({ event }) => event).filter((event) => event.startsWith('webhook_sender.'));
    expect(said).toEqual(['webhook_sender.failed', 'webhook_sender.recovered']);
  });
});

test('a receiver that does not answer delays the calls of no other webhook', async () => {
  let hanging = 0;
  startSender(async (url, _headers, _body, signal) => {
    if (!url.endsWith('/hangs')) return 200;
    hanging++;
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
  });
  await register({ url: `${receiver.url}/hangs` });
  const answering = await register();
  for (let i = 0; i < 12; i++) await cancelJob();
  await until(async () => (await deliveries(answering)).every(({ status }) => status === 'delivered'));
  expect(await deliveries(answering)).toHaveLength(12);
  expect(hanging).toBeLessThan(8);
});

test('at most 32 calls run at once, and all are made', async () => {
  let running = 0;
  let most = 0;
  const answers: (() => void)[] = [];
  startSender(async () => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => answers.push(resolve));
    running--;
    return 200;
  });
  for (let i = 0; i < WEBHOOKS_MAX; i++) await register();
  for (let i = 0; i < 2; i++) await cancelJob();
  await until(async () => answers.length === 32);
  for (let done = 0; done < 2 * WEBHOOKS_MAX; done++) {
    await until(async () => answers.length > 0);
    answers.shift()!();
  }
  await until(async () => running === 0);
  expect(most).toBe(32);
  expect(log.lines.filter(({ event }) => event === 'webhook.delivered')).toHaveLength(2 * WEBHOOKS_MAX);
});
