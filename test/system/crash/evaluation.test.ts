// Evaluations in a whole server: one whose server and sampler are killed while the checkpoint answers, where each answer is
// stored once, and those after the restart equal those of an undisturbed evaluation; and one of an SFT job.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pushArtifact } from '#client/artifact-files';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

const WITHIN = { timeout: 120_000, interval: 10 };
const PROMPTS = Array.from({ length: 24 }, (_, i) => ({
  messages: [{ role: 'user', content: `Tell me a story about ${i} cats.` }],
}));

let directory: string;
let server: ServerProcess;
let model_id: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-evaluation-'));
  server = await createServerProcess(join(directory, 'data'));
  await server.start();
  const model = { project: 'p', name: 'm', base_model: 'whetstone/starter' };
  model_id = (await server.client.registerModel(model)).id;
}, 120_000);
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Makes a checkpoint with the same weights each time, because there is nothing to train on. */
const submit = async () => {
  const evaluation = { prompts: PROMPTS, samples: 2, max_tokens: 32, temperature: 1 };
  return (await server.client.submitTrainingJob({ model_id, trajectory_groups: [], evaluation })).id;
};

const read = async (id: string) => {
  const answers = [];
  for await (const prompt of server.client.listEvaluationAnswers(id)) answers.push(prompt);
  return answers;
};

const untilAnswered = (id: string, count: number) =>
  vi.waitFor(async () => {
    const { evaluation } = await server.client.getTrainingJob(id);
    expect(evaluation!.num_answered).toBeGreaterThanOrEqual(count);
  }, WITHIN);

test('a killed server continues where it was, and so does one whose sampler is killed', async () => {
  const id = await submit();
  await untilAnswered(id, 4);
  await server.kill('server');
  await server.start();
  const before = await read(id);
  expect(before.some(({ answers }) => answers === null)).toBe(true);
  const { num_answered: found } = (await server.client.getTrainingJob(id)).evaluation!;
  await untilAnswered(id, Math.max(found, 4) + 4);
  await server.kill('inference');
  await vi.waitFor(async () => {
    expect((await server.client.getTrainingJob(id)).evaluation).toMatchObject({ status: 'succeeded', num_failed: 0 });
  }, WITHIN);
  const after = await read(id);
  for (const [i, { answers }] of before.entries()) if (answers) expect(after[i]!.answers).toEqual(answers);
  const undisturbed = await submit();
  await untilAnswered(undisturbed, PROMPTS.length);
  const tokens = (all: typeof after) => all.map(({ answers }) => answers!.map(({ token_ids }) => token_ids));
  expect(tokens(after)).toEqual(tokens(await read(undisturbed)));
}, 300_000);

test('the checkpoint of an SFT job answers what it was taught, and gets its reward', async () => {
  const { client } = server;
  const taught = { role: 'assistant', content: 'cat' };
  const questions = ['Animal?', 'Which animal?', 'Name an animal.', 'An animal, please.'];
  const lines = questions.flatMap((content) =>
    new Array<string>(16).fill(JSON.stringify({ messages: [{ role: 'user', content }, taught] })),
  );
  await writeFile(join(directory, 'train.jsonl'), lines.join('\n'));
  const { uri } = await pushArtifact(client, 'default/p/animals', join(directory, 'train.jsonl'));
  const { id: pupil } = await client.registerModel({ project: 'p', name: 'pupil', base_model: 'whetstone/starter' });
  const question = { messages: [{ role: 'user', content: 'Animal, please?' }] };
  const evaluation = { prompts: [question], samples: 4, max_tokens: 8, temperature: 0 };
  const config = { batch_size: 4, learning_rate: 2e-3 };
  const { id } = await client.submitSftJob({ model_id: pupil, training_data_url: uri, config, evaluation });
  await vi.waitFor(async () => {
    const { type, status, evaluation: asked } = await client.getTrainingJob(id);
    expect({ type, status, asked: asked!.status }).toEqual({ type: 'sft', status: 'succeeded', asked: 'succeeded' });
  }, WITHIN);

  const [prompt] = await read(id);
  const said = prompt!.answers!.map(({ message }) => message.content);
  expect(said).toEqual(new Array(4).fill('cat'));
  const rewards = said.map((content) => ({ messages_and_choices: [], reward: content === 'cat' ? 1 : 0 }));
  await client.log(pupil, {
    split: 'val',
    evaluation_job_id: id,
    trajectory_groups: [{ trajectories: rewards }],
  });
  for await (const { step, metrics } of client.listCheckpoints(pupil, { order: 'desc' })) {
    expect({ step, reward: metrics['val/reward'] }).toEqual({ step: 1, reward: 1 });
    break;
  }
}, 300_000);
