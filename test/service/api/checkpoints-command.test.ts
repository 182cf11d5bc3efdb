// `whetstone checkpoints`, and other commands that are told a step, run in this process against a listening server.
import { beforeAll, expect, test } from 'vitest';
import { register } from '../../support/api/registered-model.ts';
import { BASE, BOOTSTRAP_KEY, send, shareTestServer } from '../../support/api/test-server.ts';
import { runCommand } from './run-command.ts';

const server = await shareTestServer();
let remote: readonly string[];

beforeAll(async () => {
  const url = await server.app.listen({ port: 0, host: '127.0.0.1' }).catch(() => server.app.listeningOrigin);
  remote = ['--url', url, '--key', BOOTSTRAP_KEY];
  const id = await register(server, 'chosen');
  const answered = { messages_and_choices: [{ role: 'user', content: 'Go' }], reward: 0.5 };
  const logged = { split: 'val', trajectory_groups: [{ trajectories: [answered] }] };
  expect((await send(server, { url: `/v1/preview/models/${id}/log`, body: logged })).statusCode).toBe(200);
});

test('the list has a column for each reward and loss, and with --verbose for all metrics', async () => {
  const list = async (...flags: string[]) =>
    (await runCommand('checkpoints', 'list', 'p/chosen', ...remote, ...flags)).stdout;
  expect(await list()).toMatch(/^CHECKPOINT +CREATED +val\/reward\np\/chosen:step0  \S.*  0\.5\n$/);
  expect(await list('--verbose')).toMatch(/^CHECKPOINT +CREATED .*val\/exception_rate/);
});

test.each([
  ['chat', 'Hi', '--model', 'p/chosen:step7'],
  ['checkpoints', 'export', 'p/chosen:step7'],
  ['checkpoints', 'download', 'p/chosen', '7'],
  ['artifacts', 'pull', 'p/chosen:step7'],
  ['models', 'create', 'p/fork', '--from', 'p/chosen:step7'],
])('%s %s says which steps there are, where the named one is not', async (...command) => {
  expect((await runCommand(...command, ...remote)).said).toMatch(
    /^The model `p\/chosen`, whose latest step is 0, has no checkpoint at step 7\. List its steps with `whetstone checkpoints list p\/chosen`\./,
  );
});

test.each([
  ['checkpoints', 'list', BASE],
  ['models', 'metrics', BASE],
])('%s %s says that a base model has none, and what to do', async (...command) => {
  const { said } = await runCommand(...command, ...remote);
  expect(said).toContain(`${BASE} is a base model, which has no checkpoints and is never trained.`);
  expect(said).toMatch(/whetstone models create project\/name --base-model \S+$/);
});
