// Requests for RL jobs and logs: what of them nothing reads is named, and a reference that nothing makes is refused.
import { beforeAll, expect, test } from 'vitest';
import { storedJob } from './stored-job.ts';
import { ask } from '../../support/api/evaluation-lab.ts';
import { register } from '../../support/api/registered-model.ts';
import { containing, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();
const url = '/v1/preview/training-jobs';
let model_id: string;
beforeAll(async () => void (model_id = await register(server, 'requested')));

const cancel = (id: string) => send(server, { method: 'POST', url: `${url}/${id}/cancel` });
const choice = {
  index: 0,
  finish_reason: 'stop',
  message: { role: 'assistant', content: 'yes' },
  logprobs: { content: [{ token: 'token_id:7', logprob: -0.5 }] },
};
const unrewarded = { messages_and_choices: [{ role: 'user', content: 'yes or no?' }, choice] };

test('fields of groups that nothing reads are named, each once: a reward under another name is no reward of 0', async () => {
  const other = { messages_and_choices: [choice], score: 1 };
  const rewards = { ...unrewarded, rewards: 1, additional_histories: [other, other], advantage: null };
  const trajectory_groups = [{ trajectories: [rewards, rewards], group_id: 7 }];
  const response = await send(server, { url, body: { model_id, trajectory_groups } });
  const { id, warnings } = response.json<{ id: string; warnings: string[] }>();
  const names = ['group_id', 'trajectories[].rewards', 'trajectories[].additional_histories[].score'];
  expect(warnings).toEqual(names.map((name) => containing(`trajectory_groups[].${name} is not a field`)));
  expect((await storedJob(server, id)).warnings).toEqual(warnings);
  await cancel(id);
  const body = { split: 'val', trajectory_groups, metrics: { accuracy: 1 } };
  const logged = (await send(server, { url: `/v1/preview/models/${model_id}/log`, body })).json<object>();
  expect(logged).toMatchObject({ step: 0, warnings: [containing('metrics is not a field'), ...warnings] });
});

test('fields of held-out prompts that are not used are named, those of a file in the job', async () => {
  const settings = { samples: 2, max_tokens: 6 };
  const asked = (evaluation: object) =>
    send(server, { url, body: { model_id, trajectory_groups: [], evaluation: { ...settings, ...evaluation } } });
  const prompt = { ...ask('x'), reference_answer: '4' };
  const said = "Fields of the evaluation's prompts that are not used: reference_answer (1 prompt).";
  const inline = (await asked({ prompts: [prompt] })).json<{ id: string; warnings: string[] }>();
  expect(inline.warnings).toEqual([containing(said)]);
  await send(server, { method: 'PUT', url: '/v1/artifacts/default/p/fields/val.jsonl', body: JSON.stringify(prompt) });
  const { id } = (await asked({ prompts_url: 'wandb-artifact:///default/p/fields:v0' })).json<{ id: string }>();
  expect((await storedJob(server, id)).warnings).toEqual([containing(said)]);
  for (const made of [id, inline.id]) await cancel(made);
});

test('a KL reference step that nothing makes is refused; one that a job before it makes is not', async () => {
  const submit = (step: number) => {
    const experimental_config = { kl_penalty_coef: 0.1, kl_penalty_reference_step: step };
    return send(server, { url, body: { model_id, trajectory_groups: [], experimental_config } });
  };
  const refused = await submit(9);
  expect([refused.statusCode, refused.json<{ error: object }>().error]).toMatchObject([
    404,
    { code: 'checkpoint_not_found', param: 'kl_penalty_reference_step' },
  ]);
  for (const step of [0, 1]) {
    const made = await submit(step); // the first job makes step 1
    expect(made.statusCode, made.body).toBe(200);
  }
});
