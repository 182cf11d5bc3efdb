// Every command of `whetstone`, in this process: its help, its errors for unknown flags and failures, and its --json output.
// A command without a test of each fails here.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CALLED_WRONGLY, exitCodeOf } from '../../../src/commands/explain.ts';
import { register } from '../../support/api/registered-model.ts';
import { FAILURES } from './failing-calls.ts';
import { newProgram, runCommand as run } from './run-command.ts';
import { BOOTSTRAP_KEY, send, shareTestServer } from '../../support/api/test-server.ts';

/** Full names, such as `jobs list`. */
function leaves(command: Command, path: readonly string[] = []): { path: readonly string[]; command: Command }[] {
  const below = command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
  const isRunnable = command.commands.length === 0 || (path.length > 0 && command.options.length > 0);
  return isRunnable ? [{ path, command }, ...below] : below;
}

const COMMANDS = leaves(newProgram().program).map(({ path, command }) => ({ name: path.join(' '), path, command }));
/** Commands that print a log, a script, or lines that programs read already. */
const WITHOUT_JSON = ['serve', 'workers run', 'completion', 'help'];

describe.each(COMMANDS)('whetstone $name', ({ name, path, command }) => {
  test('has a help text that says what it does and what each of its flags does', async () => {
    const { stdout, error } = await run(...path, '--help');
    expect(error).toMatchObject({ code: 'commander.helpDisplayed', exitCode: 0 });
    expect(stdout).toContain(`Usage: whetstone ${name}`);
    expect(command.description()).not.toBe('');
    for (const { flags, description } of command.options) expect([flags, description]).not.toEqual([flags, '']);
    expect(command.options.some(({ long }) => long === '--json')).toBe(!WITHOUT_JSON.includes(name));
  });

  test('answers a wrong flag in one line that says where to read on', async () => {
    const needed = command.registeredArguments.filter(({ required }) => required);
    const mandatory = command.options.filter((option) => option.mandatory).flatMap(({ long }) => [long!, 'x']);
    const words = [...needed.map(({ argChoices }) => argChoices?.[0] ?? 'x'), ...mandatory];
    const { stdout, stderr, error } = await run(...path, ...words, '--nonsense');
    expect(stdout).toBe('');
    expect(stderr).toBe(`error: unknown option '--nonsense'. See: whetstone ${name} --help\n`);
    expect(error).toMatchObject({ code: 'commander.unknownOption' });
  });

  if (command.commands.length > 0)
    test('refuses a word that is not a subcommand', async () => {
      const { stdout, stderr } = await run(...path, 'creat', 'p/m');
      expect(stdout).toBe('');
      expect(stderr).toBe(`error: unknown command 'creat'. See: whetstone ${name} --help\n`);
    });

  test('says in one line why it failed, also with --json', async () => {
    const [args, why] = FAILURES[name]!;
    const { stdout, error, said } = await run(...path, ...args, ...(WITHOUT_JSON.includes(name) ? [] : ['--json']));
    expect(stdout).toBe('');
    expect(said).toMatch(why);
    expect(said).not.toContain('\n');
    expect([1, CALLED_WRONGLY]).toContain(exitCodeOf(error));
  });
});

test.each([
  [['chat', 'x', '--temperature', 'hot'], "'--temperature <number>' argument 'hot'"],
  [['chat', 'x', '--max-tokens', '1.5'], "'--max-tokens <count>' argument '1.5'"],
  [['train', 'x.jsonl', '--batch-size', 'zero'], "'--batch-size <rows>' argument 'zero'"],
  [['train', 'x.jsonl', '--batch-size', '0'], "'--batch-size <rows>' argument '0'"],
  [['train', 'x.jsonl', '--learning-rate', '1e-'], "'--learning-rate <number>' argument '1e-'"],
  [['train', 'x.jsonl', '--epochs', '0'], "'--epochs <count>' argument '0'"],
  [['train', 'x.jsonl', '--eval-steps', '0'], "'--eval-steps <count>' argument '0'"],
  [['train', 'x.jsonl', '--validation-split', '0.6'], "'--validation-split <part>' argument '0.6'"],
  [['train', 'x.jsonl', '--warmup', '2'], "'--warmup <part>' argument '2'"],
  [['usage', '--by', 'key'], "'--by <parts>' argument 'key'"],
  [['webhooks', 'create', 'http://127.0.0.1/', '--events', 'job.ended'], "'--events <list>' argument 'job.ended'"],
  [['usage', '--from', 'yesterday'], "'--from <day>' argument 'yesterday'"],
  [['jobs', 'list', '--limit', '-1'], "'--limit <count>' argument '-1'"],
  [['jobs', 'follow', 'x', '--timeout', 'soon'], "'--timeout <seconds>' argument 'soon'"],
])('the refusal of %j names the flag', async (args, named) => {
  const { stderr, stdout } = await run(...args);
  expect(stdout).toBe('');
  expect(stderr).toContain(`error: option ${named} is invalid. It must be a`);
  expect(stderr.trimEnd()).not.toContain('\n');
});

describe('--json', () => {
  const server = shareTestServer();
  let remote: readonly string[];
  let directory: string;
  let data: readonly string[];
  beforeAll(async () => {
    const { app } = await server;
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    remote = ['--url', url, '--key', BOOTSTRAP_KEY, '--json'];
    directory = await mkdtemp(join(tmpdir(), 'whetstone-commands-'));
    data = ['--data', join(directory, 'data'), '--json'];
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const seen = new Set<string>();
  const nameOf = (args: readonly string[]): string =>
    COMMANDS.map(({ name }) => name)
      .filter((name) => `${args.join(' ')} `.startsWith(`${name} `))
      .reduce((longest, name) => (name.length > longest.length ? name : longest), '');

  const asking = new Set<string>();
  /** Without --yes and without a terminal it changes nothing. */
  async function asks(question: string, ...args: readonly string[]): Promise<void> {
    const { stdout, said, error } = await run(...args);
    expect({ stdout, code: exitCodeOf(error) }).toEqual({ stdout: '', code: CALLED_WRONGLY });
    expect(said).toBe(`${question} There is no terminal to ask: add --yes to go ahead without confirmation.`);
    asking.add(nameOf(args));
  }

  /** Its output, parsed as one JSON text. */
  async function json(...args: readonly string[]): Promise<unknown> {
    const { stdout, error } = await run(...args);
    expect(error).toBeNull();
    seen.add(nameOf(args));
    return JSON.parse(stdout) as unknown;
  }

  /** For commands that follow a job: a line for each event as it arrives, and how they end. */
  async function jsonLines(...args: readonly string[]): Promise<{ lines: unknown[]; error: unknown }> {
    const { stdout, error } = await run(...args);
    seen.add(nameOf(args));
    return {
      lines: stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
      error,
    };
  }

  test('models and checkpoints', async () => {
    const made = (await json('models', 'create', 'p/listed', ...remote)) as { id: string };
    expect(made).toMatchObject({ project: 'p', name: 'listed' });
    const flags = ['--lora-rank', '2', '--lora-alpha', '4', '--lora-targets', 'q_proj, v_proj', '--rslora'];
    const small = (await json('models', 'create', 'p/small', ...flags, ...remote)) as { id: string };
    expect((await send(await server, { url: `/v1/preview/models/${small.id}` })).json()).toMatchObject({
      lora: { r: 2, lora_alpha: 4, target_modules: ['q_proj', 'v_proj'], use_rslora: true },
    });
    expect((await run('models', 'create', 'p/a/b', ...remote)).said).toBe('Name the model project/name, not "p/a/b".');
    expect((await run('models', 'create', 'p/large', '--lora-rank', '0', ...remote)).error).toMatchObject({
      message: expect.stringContaining('--lora-rank') as string,
    });
    expect(await json('models', '--project', 'p', '--search', 'LIST', ...remote)).toMatchObject([
      { id: 'p/listed', model_id: made.id, latest_step: 0, latest_job: null },
    ]);
    expect(await json('models', 'metrics', 'p/listed', ...remote)).toBeInstanceOf(Array);
    expect(await json('checkpoints', 'list', 'p/listed', ...remote)).toMatchObject([{ step: 0 }]);
    expect(await json('models', 'list', ...remote)).toEqual(await json('models', ...remote));
    const keep = 'Keep 2 checkpoints of p/listed? The next jobs delete the others.';
    await asks(keep, 'models', 'keep', 'p/listed', '--save-total-limit', '2', ...remote);
    expect(await json('models', 'keep', 'p/listed', '--save-total-limit', '2', '--yes', ...remote)).toMatchObject({
      save_policy: { save_total_limit: 2 },
    });
    const answered = { messages_and_choices: [{ role: 'user', content: 'Go' }], reward: 0.5 };
    const logged = { split: 'val', trajectory_groups: [{ trajectories: [answered] }] };
    expect((await send(await server, { url: `/v1/preview/models/${made.id}/log`, body: logged })).statusCode).toBe(200);
    expect(await json('checkpoints', 'best', 'p/listed', ...remote)).toMatchObject({
      name: 'p/listed:step0',
      value: 0.5,
    });
    const tar = join(directory, 'adapter.tar');
    expect(await json('checkpoints', 'download', 'p/listed', '--out', tar, ...remote)).toEqual({ out: tar });
    const taken = await run('checkpoints', 'export', 'p/listed', '--out', tar, ...remote);
    expect(taken).toMatchObject({ stdout: '', said: `${tar} already exists. Choose another path with --out.` });
    const peft = join(directory, 'peft');
    expect(await json('checkpoints', 'export', 'p/listed', '--out', peft, ...remote)).toEqual({ out: peft });
    const again = await run('checkpoints', 'export', 'p/listed', '--out', peft, ...remote);
    expect(again.said).toBe(`${peft} is not empty. Choose another path with --out.`);
  });

  test('labels and deletion of models', async () => {
    for (const name of ['kept', 'gone']) await register(await server, name, 'labels');
    await json('models', 'tag', 'labels/kept', 'a', 'b', 'a', ...remote);
    expect(await json('models', 'tag', 'labels/kept', 'b', '--remove', ...remote)).toEqual({ tags: ['a'] });
    expect(await json('models', 'note', 'labels/kept', 'try again', ...remote)).toEqual({ note: 'try again' });
    expect(await json('models', 'archive', 'labels/kept', 'labels/gone', ...remote)).toHaveLength(2);
    const archived = await json('models', '--archived', ...remote);
    expect(archived).toMatchObject([{ id: 'labels/gone' }, { id: 'labels/kept', tags: ['a'], note: 'try again' }]);
    expect(await json('models', 'unarchive', 'labels/kept', ...remote)).toMatchObject([{ archived_at: null }]);
    expect(await json('models', 'projects', ...remote)).toMatchObject([{ id: 'labels', archived_count: 1 }, {}]);
    await asks('Delete labels/gone with all checkpoints, jobs and episodes?', 'models', 'rm', 'labels/gone', ...remote);
    expect((await run('models', 'rm', 'labels/kept:step0', '--yes', ...remote)).said).toContain('names a step');
    expect(await json('models', 'rm', 'labels/kept', '--yes', ...remote)).toMatchObject([{ deleted_checkpoints: 1 }]);
  });

  test('episodes', async () => {
    await register(await server, 'played');
    const body = { model: 'p/played', messages: [{ role: 'user', content: 'Go' }], max_tokens: 2 };
    await send(await server, { url: '/e/g/first/v1/chat/completions', body });
    const given = ['--metric', 'a=b=0.5', '--failed', '--model', 'p/played', ...remote];
    const rewarded = { reward: 0.5, outcome: 'failed', metrics: { 'a=b': 0.5 } };
    expect(await json('episodes', 'reward', 'first', '0.5', ...given)).toMatchObject(rewarded);
    expect(await json('episodes', 'list', '--group', 'g', '--status', 'rewarded', ...remote)).toMatchObject([rewarded]);
    expect(await json('episodes', 'list', '--search', 'Go', ...remote)).toMatchObject([rewarded]);
    expect(await json('episodes', 'list', '--job', 'nobody', ...remote)).toEqual([]);
    expect(await json('episodes', 'get', 'first', ...remote)).toHaveProperty('calls.0.policy_step', 0);
    const begun = await json('episodes', 'begin', 'p/played', '--name', 'second', '--group', 'h', ...remote);
    expect(begun).toMatchObject({ name: 'second', base_url: expect.stringContaining('/e/h/second/v1') as string });
    const online = (...flags: string[]) => json('models', 'train-online', 'p/played', ...flags, ...remote);
    expect((await run('models', 'train-online', 'p/played', ...remote)).said).toContain(
      'Model p/played is not trained online. Begin with `whetstone models train-online p/played --groups 4`.',
    );
    await online('--groups', '4', '--group-size', '16', '--until-step', '8', '--learning-rate', '0.005');
    expect(await online('--groups', '2')).toMatchObject({
      ...{ step: 0, groups_per_step: 2, group_size_min: 16, until_step: 8 },
      experimental_config: { learning_rate: 0.005 },
    });
    expect((await run('models', 'train-online', 'p/played:step0', '--groups', '2', ...remote)).said).toContain(
      'names a step',
    );
    const { calls } = (await json('episodes', 'get', 'first', ...remote)) as { calls: { answer_id: string }[] };
    const call = calls[0]!.answer_id;
    expect(await json('episodes', 'reward', 'first', '1', '--call', `${call}=0.25`, ...remote)).toMatchObject({
      turn_rewards: { [call]: 0.25 },
    });
    await asks('Delete the episode first with 1 call?', 'episodes', 'rm', 'first', ...remote);
    expect(await json('episodes', 'rm', 'first', '--yes', ...remote)).toMatchObject({ deleted: true });
  });

  test('webhooks', async () => {
    const url = 'http://127.0.0.1:9/';
    const given = ['--events', 'training_job.failed,episode.rewarded', ...remote];
    const made = (await json('webhooks', 'create', url, ...given)) as { id: string; secret: string };
    expect(made).toMatchObject({ url, events: ['training_job.failed', 'episode.rewarded'] });
    expect(await json('webhooks', 'list', ...remote)).toMatchObject([{ id: made.id, disabled_at: null }]);

    await register(await server, 'told');
    const body = { model: 'p/told', messages: [{ role: 'user', content: 'Go' }], max_tokens: 2 };
    await send(await server, { url: '/e/told/v1/chat/completions', body });
    const rewarded = (await json('episodes', 'reward', 'told', '1', ...remote)) as { id: string };
    const sent = { event: 'episode.rewarded', episode_id: rewarded.id, status: 'pending', attempts: 0 };
    const [delivery, ...others] = (await json('webhooks', 'deliveries', made.id, ...remote)) as { id: string }[];
    expect([delivery, others]).toMatchObject([sent, []]);
    expect(await json('webhooks', 'redeliver', made.id, delivery!.id, ...remote)).toMatchObject(sent);
    const plain = remote.filter((word) => word !== '--json');
    const [header, row] = (await run('webhooks', 'deliveries', made.id, ...plain)).stdout.split('\n');
    expect(header).toMatch(/^ID +EVENT +OF +STATUS +ATTEMPTS +LAST ANSWER +CREATED$/);
    expect(row).toMatch(new RegExp(`^${delivery!.id}  episode\\.rewarded  ${rewarded.id}  pending  0 +- +2026-06-01$`));

    expect((await run('webhooks', 'rm', 'nobodys', ...remote)).said).toContain('No webhook nobodys. List them with');
    const question = `Delete the webhook ${made.id} (${url}) and the record of its calls?`;
    await asks(question, 'webhooks', 'rm', made.id, ...remote);
    expect(await json('webhooks', 'rm', made.id, '--yes', ...remote)).toMatchObject({ id: made.id, deleted: true });
    const { stdout: secret } = await run('webhooks', 'create', url, ...plain);
    expect(secret).toMatch(/^whsec_\S+\n$/);
    expect((await run('webhooks', 'list', ...plain)).stdout).toContain(
      'training_job.succeeded,training_job.failed,training_job.cancelled',
    );
  });

  test('jobs', async () => {
    const model_id = await register(await server, 'jobs-listed');
    const trajectories = [1, 0].map((reward) => ({
      messages_and_choices: [{ role: 'user', content: 'Go' }],
      reward,
    }));
    const body = { model_id, trajectory_groups: [{ trajectories }] };
    const { id } = (await send(await server, { url: '/v1/preview/training-jobs', body })).json<{ id: string }>();
    expect(await json('jobs', 'list', '--limit', '1', ...remote)).toMatchObject([{ id, status: 'queued' }]);
    expect(await json('usage', '--by', 'model,day', ...remote)).toMatchObject({ object: 'list', has_more: false });
    expect(await json('jobs', 'get', id, ...remote)).toMatchObject({ id, status: 'queued' });
    expect(await json('jobs', 'logs', id, ...remote)).toEqual([]);
    const waited = await run('jobs', 'follow', id, '--timeout', '6', ...remote);
    expect(waited.stderr).toBe(
      `job ${id} is waiting: no trainer has started it. Earlier jobs: whetstone jobs list. Connected workers: whetstone workers\n`,
    );
    expect(waited.error).toMatchObject({ message: expect.stringContaining('has not ended within 6 s') as string });
    await asks(`Cancel the rl job ${id}, which is queued?`, 'jobs', 'cancel', id, ...remote);
    expect(await json('jobs', 'cancel', id, '--yes', ...remote)).toMatchObject({ id, status: 'cancelled' });
    const over = await run('jobs', 'cancel', id, ...remote); // nobody is asked about what cannot be done
    expect(over.said).toBe(`The job ${id} has ended (cancelled): there is nothing to cancel.`);
    const plain = remote.filter((word) => word !== '--json');
    const listed = await run('jobs', 'list', '--status', 'cancelled', '--type', 'rl', '--search', 'p/jobs', ...plain);
    const [header, cancelled] = listed.stdout.split('\n');
    expect(header).toMatch(/^ID +KIND +STATUS +DONE +MODEL +REWARD +LOSS +TOOK +SUBMITTED$/);
    expect(cancelled).toMatch(new RegExp(`^${id}  rl    cancelled  0 %   p/jobs-listed  - {7}- {5}- {5}2026-06-01$`)); // without the step that was never made
    const [, ...models] = (await run('models', '--search', 'jobs-listed', ...plain)).stdout.split('\n');
    expect(models).toEqual([expect.stringMatching(/^p\/jobs-listed  0     -       cancelled  2026-06-01  \S+$/), '']);
    expect((await run('jobs', 'get', 'nobodys', ...plain)).said).toMatch(
      /^No training job nobodys\. List yours with `whetstone jobs list`\. \(request \w+\)$/,
    );
    expect((await run('jobs', 'logs', id, ...plain)).stdout).toBe('failed: cancelled\n');
    expect((await run('jobs', 'logs', id, '--verbose', ...plain)).stdout).toMatch(/^training_failed {2}.*cancelled/m);
    const followed = await run('jobs', 'follow', id, ...plain);
    expect(followed.error).toMatchObject({ message: `job ${id} made no checkpoint. See: whetstone jobs get ${id}` });
    expect((await run('jobs', 'list', '--status', 'running', ...plain)).stdout).toBe('No jobs.\n');
    expect(await jsonLines('jobs', 'follow', id, ...remote)).toMatchObject({
      lines: [{ type: 'training_failed', data: { error_message: 'cancelled' } }],
      error: { message: expect.stringContaining('cancelled') as string },
    });
    const file = join(directory, 'job.json');
    await writeFile(file, JSON.stringify(body));
    expect(await jsonLines('train', file, '--timeout', '1', ...remote)).toMatchObject({
      lines: [{ id: expect.any(String) as string }],
      error: { message: expect.stringContaining('has not ended within 1 s') as string },
    });
  });

  test('data and tasks, before they are used', async () => {
    const file = join(directory, 'checked.jsonl');
    await writeFile(file, '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n');
    expect(await json('data', 'check', file, '--json')).toMatchObject({ rows: { conversation: 1 } });
    const reward = join(directory, 'reward.mjs');
    await writeFile(reward, 'export default (answer) => answer.length;');
    expect(await json('probe', file, '--reward', reward, '--max-tokens', '3', ...remote)).toMatchObject({ tasks: 1 });
  });

  test('artifacts and workers', async () => {
    const file = join(directory, 'rows.jsonl');
    await writeFile(file, '{"messages":[]}\n');
    expect(await json('artifacts', 'push', 'p/rows', file, ...remote)).toMatchObject({ version: 'v0' });
    expect(await json('artifacts', 'ls', 'p', ...remote)).toContainEqual(expect.objectContaining({ version: 'v0' }));
    const plain = remote.filter((word) => word !== '--json');
    const target = join(directory, 'pulled');
    expect(await json('artifacts', 'pull', 'p/rows', target, ...remote)).toMatchObject({ directory: target });
    await asks('Delete all versions of p/rows?', 'artifacts', 'rm', 'p/rows', ...remote);
    expect(await json('artifacts', 'rm', 'p/rows', '--yes', ...remote)).toEqual({ deleted_count: 1 });
    await json('artifacts', 'push', 'p/rows', file, ...remote);
    expect((await run('artifacts', 'rm', 'p/rows', '--yes', ...plain)).stdout).toBe('deleted 1 version of p/rows\n');
    expect(await json('workers', ...remote)).toEqual([]);
    expect(await json('workers', 'list', ...remote)).toEqual([]);
  });

  test('chat', async () => {
    expect(await json('chat', 'Hello', '--max-tokens', '4', ...remote)).toMatchObject({
      choices: [{ message: { role: 'assistant' } }],
    });
  });

  test('commands that work on a data directory', async () => {
    const made = (await json('keys', 'create', '--entity', 'team', ...data)) as { id: string; key: string };
    expect(made).toMatchObject({ entity: 'team', revoked_at: null });
    expect(await json('migrate', ...data)).toMatchObject({ up_to_date: true });
    expect(made.key).toMatch(/^wk-/);
    expect(await json('keys', 'list', ...data)).toMatchObject([{ id: made.id }]);
    const revoke = `Revoke key ${made.id} (cli) of team? Requests that use it will be refused.`;
    await asks(revoke, 'keys', 'revoke', made.id, ...data);
    expect(await json('keys', 'revoke', made.id, '--yes', ...data)).toEqual({ id: made.id, outcome: 'revoked' });
    const limits = { entity: 'team', limits: { queuedJobs: 3 } };
    expect(await json('limits', 'set', 'team', '--queued-jobs', '3', ...data)).toEqual(limits);
    expect(await json('limits', 'list', ...data)).toEqual([limits]);
    const replace = 'Replace the limits of team (queued-jobs 3) by queued-jobs 2?';
    await asks(replace, 'limits', 'set', 'team', '--queued-jobs', '2', ...data);
    await asks('Repair the store? Leftovers of ended jobs are deleted.', 'doctor', '--repair', ...data);
    expect(await json('limits', 'list', ...data)).toEqual([limits]);
    const none = { entity: 'team', limits: {} };
    expect(await json('limits', 'set', 'team', '--yes', ...data)).toEqual(none);
    expect(await json('doctor', ...data)).toMatchObject({ healthy: true, findings: [] });
    const copy = join(directory, 'copy');
    expect(await json('backup', copy, ...data)).toMatchObject({ settled: true, findings: [] });
    const into = ['--data', join(directory, 'restored'), '--json'];
    expect(await json('restore', copy, ...into)).toMatchObject({ outcome: 'restored' });
  });

  test('of every command has been read above', () => {
    const all = COMMANDS.map(({ name }) => name).filter((name) => !WITHOUT_JSON.includes(name));
    expect(all.filter((name) => !seen.has(name))).toEqual([]);
    const destructive = COMMANDS.filter(({ command }) => command.options.some(({ long }) => long === '--yes'));
    expect(destructive.map(({ name }) => name).sort()).toEqual([...asking].sort());
  });
});

/** Flags for a server that gives every request this answer. */
async function answering(answer: object): Promise<string[]> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
  ).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return ['--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`, '--key', 'k'];
}

test('a running job is cancelled at its next gradient step, as the command says', async () => {
  const remote = await answering({ id: 'j', status: 'running' });
  expect((await run('jobs', 'cancel', 'j', '--yes', ...remote)).stdout).toBe(
    'j: will be cancelled after the current gradient step\n',
  );
});

test('an empty message is refused, and https to a server without TLS is explained', async () => {
  const remote = await answering({});
  expect((await run('chat', ' ', ...remote)).said).toBe('The message is empty: write what the model is asked.');
  const [flag, url] = remote;
  const { said } = await run('models', flag!, url!.replace('http:', 'https:'), '--key', 'k');
  expect(said).toMatch(/^the server at https:\S+ does not speak TLS\. Its address begins with http:\/\/, /);
});

test.each(['bash', 'zsh', 'fish'])('completion for %s names commands and flags', async (shell) => {
  const { stdout } = await run('completion', shell);
  for (const word of ['jobs', 'follow', 'learning-rate']) expect(stdout).toContain(word);
});
