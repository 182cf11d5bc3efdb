// `whetstone jobs show`, run in this process against a listening server.
import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { addJobs } from '../../../src/commands/jobs.ts';
import { createRemote } from '../../../src/commands/remote.ts';
import { ask, endJob, evaluated, submitEvaluated } from '../../support/api/evaluation-lab.ts';
import { register } from '../../support/api/registered-model.ts';
import { BOOTSTRAP_KEY, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

async function run(...args: string[]): Promise<string> {
  const url = await server.app.listen({ port: 0, host: '127.0.0.1' }).catch(() => server.app.listeningOrigin);
  const program = new Command();
  addJobs(program, createRemote());
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await program.parseAsync(['node', 'whetstone', 'jobs', ...args, '--url', url, '--key', BOOTSTRAP_KEY]);
    return write.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    write.mockRestore();
  }
}

/** Nested ones count each. */
const SETTINGS = 34;

test('prints settings and groups, and nothing that a terminal would interpret', async () => {
  const model_id = await register(server, 'shown');
  const content = 'Is it?\u001b]0;owned\u0007\u202e\nnew line';
  const trajectories = [1, 0].map((reward) => ({ messages_and_choices: [{ role: 'user', content }], reward }));
  const body = { model_id, trajectory_groups: [{ trajectories }], experimental_config: { learning_rate: 1e-4 } };
  const made = await send(server, { url: '/v1/preview/training-jobs', body });
  const { id } = made.json<{ id: string }>();
  const shown = await run('show', id, '--groups');
  expect(shown.split('\n')).toEqual([
    `rl job ${id}: queued, 0 %`,
    'model: p/shown',
    expect.stringMatching(/^submitted: /),
    'data: the groups that were sent with it, which --groups shows',
    'would train with:',
    expect.stringMatching(/^ {2}learning_rate {3,}0\.0001$/),
    ...Array.from({ length: SETTINGS - 1 }, () => expect.stringMatching(/^ {2}\w+(?:\.\w+)? {2,}\S/) as string),
    'group 0  rewards 1 0  advantages 1 -1  Is it? ]0;owned new line',
    '',
  ]);
  expect(JSON.parse(await run('show', id, '--groups', '--json'))).toMatchObject({
    id,
    warnings: [],
    config: { learning_rate: 1e-4 },
    groups: [{ rewards: [1, 0], prompt: content }],
  });
});

test('prints the answers of a checkpoint, with rewards', async () => {
  const model_id = await register(server, 'evaluated-by-command');
  const id = await submitEvaluated(server, model_id, {
    prompts: [ask('Hello?\u001b[31m')],
    samples: 2,
    max_tokens: 4,
    temperature: 1,
  });
  expect(await run('show', id, '--answers')).toContain(
    'evaluation: queued, 0 of 1 prompt answered, 2 samples each\nprompt 0  Hello? [31m\n  not yet answered\n',
  );
  await endJob(server, id);
  await evaluated(server, id);
  const trajectories = [1, 0.25].map((reward) => ({ messages_and_choices: [], reward }));
  const logged = { split: 'val', evaluation_job_id: id, trajectory_groups: [{ trajectories }] };
  await send(server, { url: `/v1/preview/models/${model_id}/log`, body: logged });
  const lines = (await run('show', id, '--answers')).trimEnd().split('\n');
  expect(lines.slice(-4)).toEqual([
    'evaluation: succeeded, 1 of 1 prompt answered, 2 samples each',
    'prompt 0  Hello? [31m',
    expect.stringMatching(/^ {2}reward 1 {2}(?:stop|length) {2}/),
    expect.stringMatching(/^ {2}reward 0\.25 {2}(?:stop|length) {2}/),
  ]);
  expect(JSON.parse(await run('show', id, '--answers', '--json'))).toMatchObject({
    evaluation: { status: 'succeeded' },
    answers: [{ answers: [{ reward: 1 }, { reward: 0.25 }] }],
  });
});

test('says that there are no groups or answers, rather than nothing', async () => {
  const model_id = await register(server, 'without-either');
  const trajectories = [1, 0].map((reward) => ({ messages_and_choices: [{ role: 'user', content: 'Go' }], reward }));
  const body = { model_id, trajectory_groups: [{ trajectories }] };
  const { id } = (await send(server, { url: '/v1/preview/training-jobs', body })).json<{ id: string }>();
  const shown = await run('show', id, '--answers');
  expect(shown).toMatch(/\nno answers: the job has no evaluation, which train --evaluate asks for\n$/);
});
