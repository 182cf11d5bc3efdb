// The policy that limits a model's checkpoints, over HTTP: setting and reading it, and that a checkpoint in use is kept. Which
// checkpoints are deleted: save-policy.test.ts of domain; deletion with a job's own checkpoint: test/system/crash/job-runner.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { planDeletions } from '#services/models/kept-checkpoints';
import { BASE, containing, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer();
});
afterAll(() => server.close());

const MODELS = '/v1/preview/models';
interface Made {
  readonly id: string;
  readonly warnings?: string[];
}
const register = async (name: string, about: object = {}) =>
  (await send(server, { url: MODELS, body: { project: 'p', name, base_model: BASE, ...about } })).json<Made>();
const policyOf = async (id: string) =>
  (await send(server, { url: `${MODELS}/${id}` })).json<{ save_policy: object | null }>().save_policy;
const put = (id: string, save_policy: unknown) =>
  send(server, { method: 'PUT', url: `${MODELS}/${id}/save-policy`, body: { save_policy } });

test('it is set with the model, read, changed and removed', async () => {
  const { id } = await register('limited', { save_policy: { save_total_limit: 3, metric_for_best_model: 'val/loss' } });
  const read = { save_total_limit: 3, metric_for_best_model: 'val/loss', greater_is_better: false };
  expect(await policyOf(id)).toEqual(read);
  const changed = await put(id, { save_total_limit: 1, metric_for_best_model: 'val/reward', wow: 1 });
  expect(changed.statusCode, changed.body).toBe(200);
  const now = { save_total_limit: 1, metric_for_best_model: 'val/reward', greater_is_better: true };
  expect(changed.json()).toMatchObject({ id, save_policy: now, warnings: [containing('save_policy.wow')] });
  expect(await policyOf(id)).toEqual(now);
  expect((await put(id, null)).json()).toMatchObject({ save_policy: null });
  expect(await policyOf(id)).toBeNull();
  expect(await policyOf((await register('all')).id)).toBeNull();
});

test('an existing model keeps its own policy, and says so', async () => {
  const about = { return_existing: true, save_policy: { save_total_limit: 2 } };
  expect(await register('again', about)).not.toHaveProperty('warnings');
  const { id, warnings } = await register('again', { ...about, save_policy: { save_total_limit: 9 } });
  expect(warnings).toEqual([containing('save_policy was not used')]);
  expect(await policyOf(id)).toMatchObject({ save_total_limit: 2 });
});

test.each([
  ['none', { save_total_limit: 0 }],
  ['no number', { metric_for_best_model: 'val/loss' }],
])('a limit of %s is refused', async (_, policy) => {
  const { id } = await register('refusing', { return_existing: true });
  expect((await put(id, policy)).statusCode).toBe(422);
});

test('a policy for an unknown model is refused', async () => {
  expect((await put(createId(), null)).statusCode).toBe(404);
});

test('checkpoints that are requested, downloaded, forked or used as a KL reference are kept', async () => {
  const { storage, clock } = server;
  const { id: modelId } = await register('used', { save_policy: { save_total_limit: 1 } });
  const [zero] = (await storage.checkpoints.list(modelId, { after: null, limit: 1 }, 'asc')).rows;
  const steps: number[] = [];
  for (let step = 1; step <= 6; step++) {
    const { id: _, step: __, ...like } = zero!;
    steps.push((await storage.checkpoints.add({ ...like, id: createId() }))!.step);
  }
  const made = { ...zero!, id: createId(), step: 7 };
  const going = async () =>
    (await planDeletions(storage, modelId, made, clock.now() - 600_000)).map(({ step }) => step);
  expect(await going()).toEqual([0, ...steps]);

  const messages = [{ role: 'user', content: 'hi' }];
  const asked = await send(server, {
    url: '/v1/chat/completions',
    body: { model: 'p/used:step1', messages, max_tokens: 1 },
  });
  expect(asked.statusCode, asked.body).toBe(200);
  expect((await send(server, { url: `${MODELS}/${modelId}/checkpoints/2/download` })).statusCode).toBe(200);
  await register('fork', { from_checkpoint: 'default/p/used@3' });
  const job = { type: 'rl', entity: 'default', keyId: 'k', bodyBlob: 'b', createdAtMs: 0 } as const;
  await storage.jobs.create({ ...job, id: createId(), modelId, klReference: { step: 4 } });
  const klReference = { checkpointName: 'default/p/used@5' };
  await storage.jobs.create({ ...job, id: createId(), modelId: (await register('other')).id, klReference });
  expect(await going()).toEqual([0, 6]);
  await storage.jobs.create({ ...job, id: createId(), modelId, klReference: { stepLag: 1 } });
  expect(await going()).toEqual([0]);

  clock.advance(600_001);
  expect(await going()).toEqual([0, 1, 2, 3]);
});
