// RL jobs from episodes: what they train is what was sampled, and what cannot be trained is refused with its place.
import { expect, test } from 'vitest';
import { evaluationBodyBlob, jobBodyBlob } from '#domain/blob-names';
import type { TrajectoryGroup } from '#domain/trajectory';
import { readGroups } from '#services/jobs/data/stored-groups';
import { tokenizeHistory } from '#training/tokenize';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { register } from '../../support/api/registered-model.ts';
import { chat, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();
const modelId = await register(server, 'agent');
const model = 'p/agent';
const jobs = '/v1/preview/training-jobs';

const TOOLS = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];

interface Answer {
  prompt_token_ids: number[];
  choices: { message: { role: string; content: string }; token_ids: number[] }[];
}

/** Two turns of a conversation, the second of which continues the first. */
async function play(episode: string, reward: number | null): Promise<Answer[]> {
  const messages: { role: string; content: string }[] = [{ role: 'user', content: `Play ${episode}.` }];
  const answers: Answer[] = [];
  for (const seed of [1, 2]) {
    const response = await send(server, {
      url: `/e/${episode}/v1/chat/completions`,
      body: chat({ model, messages, tools: TOOLS, tool_choice: 'none', seed, max_tokens: 5, return_token_ids: true }),
    });
    expect(response.statusCode, response.body).toBe(200);
    const answer = response.json<Answer>();
    answers.push(answer);
    messages.push(answer.choices[0]!.message, { role: 'user', content: 'Go on.' });
  }
  if (reward !== null) {
    const given = await send(server, { url: `/v1/preview/episodes/${episode}/reward`, body: { reward } });
    expect(given.statusCode, given.body).toBe(200);
  }
  return answers;
}

const submit = (groups: unknown, more: object = {}) =>
  send(server, { url: jobs, body: { model_id: modelId, episode_groups: groups, ...more } });

async function storedGroups(jobId: string): Promise<TrajectoryGroup[]> {
  const name = jobBodyBlob(jobId);
  const { groups } = await readGroups((await server.blobs.stream(name))!, name);
  const all: TrajectoryGroup[] = [];
  for await (const group of groups) all.push(group);
  return all;
}

test('a job trains the tokens that were sampled after the prompts that they followed, and the episodes are used', async () => {
  const played = { one: await play('one', 1), two: await play('two', 0) };
  const made = await submit([['one', 'two']]);
  expect(made.statusCode, made.body).toBe(200);
  const { id } = made.json<{ id: string }>();
  const [group] = await storedGroups(id);
  expect(group!.trajectories.map(({ reward }) => reward)).toEqual([1, 0]);
  const { text } = server.model;
  const encoder = createConversationEncoder('tiny', text, text.tokenizer.vocabSize);
  for (const [i, answers] of Object.values(played).entries()) {
    const trained: number[][] = [];
    for (const history of group!.trajectories[i]!.histories) {
      expect(history.tools).toMatchObject(TOOLS);
      const { sequences, renderedPrompts, problems } = await tokenizeHistory(history, encoder);
      expect({ renderedPrompts, problems }).toEqual({ renderedPrompts: 0, problems: [] });
      for (const { tokens, trained: mask } of sequences) trained.push([...tokens].filter((_, at) => mask[at] === 1));
    }
    expect(trained.flat()).toEqual(answers.flatMap(({ choices }) => choices[0]!.token_ids));
  }
  const used = (await send(server, { url: '/v1/preview/episodes/one' })).json<object>();
  expect(used).toMatchObject({ status: 'trained', trained_by: id });
  const reward = (body: object) => send(server, { url: '/v1/preview/episodes/one/reward', body });
  expect((await reward({ reward: 0 })).statusCode).toBe(409);
  const repeated = await reward({ reward: 1 }); // by a client that did not see the first answer
  expect([repeated.statusCode, used]).toEqual([200, expect.objectContaining(repeated.json<object>())]);

  await send(server, { url: `${jobs}/${id}/cancel`, body: {} });
  expect((await send(server, { url: '/v1/preview/episodes/one' })).json()).toMatchObject({ status: 'rewarded' });
});

test('the reward of a call is that of its tokens alone; each call has the step that sampled it', async () => {
  const [first] = await play('paid', null);
  await play('unpaid', 0);
  const { id } = first as unknown as { id: string };
  const untrained = await send(server, {
    url: '/e/paid/v1/chat/completions',
    headers: { 'x-whetstone-train': 'false' },
    body: chat({ model, max_tokens: 2 }),
  });
  const body = { reward: 1, turn_rewards: { [id]: 0.25, [untrained.json<{ id: string }>().id]: 9 } };
  expect((await send(server, { url: '/v1/preview/episodes/paid/reward', body })).statusCode).toBe(200);
  const made = await submit([['paid', 'unpaid']]);
  const [group] = await storedGroups(made.json<{ id: string }>().id);
  expect(group!.trajectories.map(({ reward }) => reward)).toEqual([1, 0]);
  const sampled = group!.trajectories.map(({ histories }) =>
    histories.flatMap(({ turns }) =>
      turns.flatMap((turn) => (turn.kind === 'sampled' ? [[turn.reward, turn.policyStep]] : [])),
    ),
  );
  expect(sampled).toEqual([
    [
      [0.25, 0],
      [undefined, 0],
    ],
    [
      [undefined, 0],
      [undefined, 0],
    ],
  ]);
  const name = jobBodyBlob(made.json<{ id: string }>().id);
  const { head } = await readGroups<{ warnings: string[] }>((await server.blobs.stream(name))!, name);
  expect(head.warnings).toContain('turn_rewards of calls that are not trained were not used: 1.');
});

test('of jobs that are submitted at once with the same episodes one is made, and the others leave nothing behind', async () => {
  await play('first', 1);
  await play('second', 0);
  const before = (await server.blobs.list('jobs')).length;
  const evaluation = { prompts: [{ messages: [{ role: 'user', content: 'Hi' }] }], samples: 1, max_tokens: 2 };
  const answers = await Promise.all(Array.from({ length: 3 }, () => submit([['first', 'second']], { evaluation })));
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409, 409]);
  const { id } = answers.find(({ statusCode }) => statusCode === 200)!.json<{ id: string }>();
  expect(await server.blobs.list('jobs')).toHaveLength(before + 1);
  expect(await server.blobs.list('evaluations')).toEqual([
    expect.objectContaining({ name: evaluationBodyBlob(modelId, id) }),
  ]);
  expect((await storedGroups(id)).flatMap(({ trajectories }) => trajectories)).toHaveLength(2);
});

test('episodes of another model are named as such, and those without a call that is trained are counted', async () => {
  const other = await register(server, 'other');
  const begin = async (name: string, reward: number) => {
    await send(server, { url: '/v1/preview/episodes', body: { model_id: other, name } });
    await send(server, { url: `/v1/preview/episodes/${name}/reward`, body: { reward } });
  };
  await begin('elsewhere', 1);
  await begin('idle', 0);
  const refused = await submit([['elsewhere', 'idle']]);
  expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([
    404,
    `episode_groups[0][0]: the episode \`elsewhere\` is one of the model ${other}. Name episodes of the job's model, or send model_id: ${other}.`,
  ]);
  const made = await submit([['elsewhere', 'idle']], { model_id: other });
  const name = jobBodyBlob(made.json<{ id: string }>().id);
  const { head } = await readGroups<{ warnings: string[] }>((await server.blobs.stream(name))!, name);
  expect(head.warnings).toEqual([expect.stringMatching(/^Episodes without a call that can be trained: 2\./)]);
});

test.each([
  ['a group of one', [['open']], {}, 400, /episode_groups\[0\] has one episode/],
  ['an episode without a reward', [['open', 'rewarded']], {}, 409, /episode_groups\[0\]\[0\].*has no reward yet/],
  ['one that does not exist', [['rewarded', 'nobody']], {}, 404, /episode_groups\[0\]\[1\].*nobody/],
  ['one that is named twice', [['rewarded', 'rewarded']], {}, 400, /same episode as episode_groups\[0\]\[0\]/],
  ['no groups', [], {}, 422, /episode_groups/],
  ['both kinds of data', [['rewarded', 'open']], { trajectory_groups: [] }, 422, /not both/],
] as const)('%s is refused', async (_, groups, more, status, words) => {
  if ((await send(server, { url: '/v1/preview/episodes/open' })).statusCode === 404) await play('open', null);
  if ((await send(server, { url: '/v1/preview/episodes/rewarded' })).statusCode === 404) await play('rewarded', 1);
  const response = await submit(groups, more);
  expect([response.statusCode, response.body]).toEqual([status, expect.stringMatching(words)]);
});
