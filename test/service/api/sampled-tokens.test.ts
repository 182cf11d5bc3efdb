import { expect, test } from 'vitest';
import { storedJob } from './stored-job.ts';
import { BASE, chat, openTestServer, send } from '../../support/api/test-server.ts';

test('a choice that lost its tokens is trained on exactly the sampled ones while the server remembers them', async () => {
  const own = await openTestServer();
  const registered = await send(own, {
    url: '/v1/preview/models',
    body: { project: 'p', name: 'forgetful', base_model: BASE },
  });
  const modelId = registered.json<{ id: string }>().id;
  const model = 'wandb-artifact:///default/p/forgetful';
  const ask = async () => {
    const fields = { model, logprobs: false, return_token_ids: true, temperature: 1.2, seed: 5 };
    const response = await send(own, { url: '/v1/chat/completions', body: chat(fields) });
    return response.json<{
      choices: { message: object; logprobs: null; token_ids: number[] }[];
      prompt_token_ids: number[];
    }>();
  };
  const { choices, prompt_token_ids: promptIds } = await ask();
  const { token_ids: ids, ...choice } = choices[0]!;
  const known = [{ role: 'user', content: 'Say something.' }, choice];
  const unknown = [
    { role: 'user', content: 'Say something.' },
    { ...choice, message: { role: 'assistant', content: 'never said' } },
  ];
  const response = await send(own, {
    url: '/v1/preview/training-jobs',
    body: {
      model_id: modelId,
      trajectory_groups: [
        { trajectories: [known, unknown].map((turns, i) => ({ messages_and_choices: turns, reward: i })) },
      ],
    },
  });
  expect(response.statusCode, response.body).toBe(200);
  const { id } = response.json<{ id: string }>();
  const body = await storedJob(own, id);
  const [recalled, forgotten] = body.groups[0]!.trajectories.map(({ histories }) => histories[0]!.turns[1]!);
  expect(recalled).toMatchObject({ tokens: ids, promptTokenIds: promptIds, reshapedBy: ['temperature'] });
  expect(recalled!.kind === 'sampled' && recalled!.logprobs).toHaveLength(ids.length);
  await own.close();
  expect(forgotten).toMatchObject({ tokens: null, logprobs: null });
});
