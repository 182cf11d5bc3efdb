// Webhooks of episodes, to a real receiver: when an episode gets a reward, and when its group is complete.
import { expect, onTestFinished, test } from 'vitest';
import { createWebhookPost } from '#services/webhooks/webhook-post';
import { createWebhookSender } from '#services/webhooks/webhook-sender';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import { register } from '../../support/api/registered-model.ts';
import { LOOPBACK_WEBHOOKS, send, shareTestServer } from '../../support/api/test-server.ts';
import { isSigned, openReceiver } from './webhook-receiver.ts';

const server = await shareTestServer();
const modelId = await register(server, 'agent');

async function receive(events?: readonly string[]) {
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  const body = { url: receiver.url, ...(events ? { events } : {}) };
  const webhook = (await send(server, { url: '/v1/webhooks', body })).json<{ id: string; secret: string }>();
  const { storage, jobEvents, clock } = server;
  const log = createRecordingLog();
  const post = createWebhookPost(LOOPBACK_WEBHOOKS);
  const sender = createWebhookSender({ store: storage.webhooks, jobEvents, clock, log, post });
  sender.start();
  onTestFinished(() => sender.stop());
  const deliveries = () =>
    receiver.received.map(({ body: text }) => JSON.parse(text) as { type: string; data: object });
  const heard = (count: number) => expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(count);
  return { webhook, receiver, deliveries, heard };
}

const begin = async (name: string, group: string): Promise<string> => {
  const body = { model_id: modelId, name, group };
  return (await send(server, { url: '/v1/preview/episodes', body })).json<{ id: string }>().id;
};
const reward = (name: string, value: number) =>
  send(server, { url: `/v1/preview/episodes/${name}/reward`, body: { reward: value } });

test('each reward is deliveries once, and a group once it has two and no open episode', async () => {
  const { webhook, receiver, deliveries, heard } = await receive(['episode.rewarded', 'group.complete']);
  const ids = [await begin('a', 'g'), await begin('b', 'g'), await begin('c', 'g')];
  await reward('a', 1);
  await reward('a', 1);
  await reward('b', 0);
  await heard(2);
  await reward('c', 0.5);
  await heard(4);
  server.clock.advance(1_000);
  await reward('c', 0.25);
  await heard(5);
  expect(receiver.received.every((call) => isSigned(call, webhook.secret))).toBe(true);
  const about = { model_id: modelId, group: 'g' };
  expect(deliveries()).toEqual(
    expect.arrayContaining([
      ...[1, 0, 0.5].map(
        (value, at) =>
          expect.objectContaining({
            type: 'episode.rewarded',
            data: { ...about, id: ids[at], name: 'abc'[at], status: 'completed', reward: value, metrics: {} },
          }) as unknown,
      ),
      expect.objectContaining({ type: 'group.complete', data: { ...about, episodes: 3, rewards_differ: true } }),
    ]),
  );
  const url = `/v1/webhooks/${webhook.id}/deliveries`;
  const { data } = (await send(server, { url })).json<{ data: { event: string; episode_id: string | null }[] }>();
  expect(data).toHaveLength(5);
  expect(data[0]).toMatchObject({ event: 'episode.rewarded', episode_id: ids[2], training_job_id: null });
});

test('a group that is complete without an episode, or is used again, is told of', async () => {
  const { deliveries, heard } = await receive(['group.complete']);
  const groups = () => deliveries().map(({ data }) => (data as { group: string }).group);
  const play = async (group: string, ...names: string[]) => {
    for (const name of names) await begin(name, group);
    for (const name of names) await reward(name, 1);
  };
  const open = await begin('deleted', 'without');
  await play('without', 'w1', 'w2');
  await begin('moved', 'left');
  await play('left', 'l1', 'l2');
  await send(server, { method: 'DELETE', url: `/v1/preview/episodes/${open}` });
  await heard(1);
  const elsewhere = { reward: 1, group: 'another' };
  await send(server, { url: '/v1/preview/episodes/moved/reward', body: elsewhere });
  await heard(2);
  const body = { model_id: modelId, episode_groups: [['w1', 'w2']] };
  const job = await send(server, { url: '/v1/preview/training-jobs', body });
  expect(job.statusCode, job.body).toBe(200);
  await play('without', 'w3', 'w4');
  await reward('w4', 0.5);
  await heard(3);
  await begin('expiring', 'expired');
  server.clock.advance(1_000);
  await play('expired', 'e1', 'e2');
  await server.storage.episodes.expire(server.clock.now() - 500, server.clock.now(), 100);
  server.jobEvents.notify(null);
  await heard(4);
  expect(groups()).toEqual(['without', 'left', 'without', 'expired']);
});

test('a webhook that names no events hears of no episodes: those of training jobs are the default', async () => {
  const { heard, receiver } = await receive();
  await begin('quiet', 'q');
  await reward('quiet', 1);
  const body = { model_id: modelId, trajectory_groups: [] };
  const { id } = (await send(server, { url: '/v1/preview/training-jobs', body })).json<{ id: string }>();
  await send(server, { url: `/v1/preview/training-jobs/${id}/cancel`, method: 'POST' });
  await heard(1);
  expect(receiver.received[0]!.body).toContain('training_job.cancelled');
});
