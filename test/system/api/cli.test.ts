// The `whetstone` command as a user runs it: processes, exit codes, and output on stdout and stderr.
import { execFileSync, spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createClient } from '#client/client';
import { lockDataDirectory } from '#server/data-lock';
import { skipUnless } from '../../support/skipping.ts';
import { CLI } from '../../support/cli-command.ts';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdio: StdioOptions = ['ignore', 'pipe', 'pipe'],
) {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { ...process.env, WHETSTONE_API_KEY: '', WHETSTONE_URL: '', WHETSTONE_DATA: dataDirectory, ...env },
    stdio,
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr?.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  const ended = new Promise<Outcome>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
  return { child, ended };
}

const run = (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Outcome> =>
  start(args, env).ended;

/** Resolves with the address and the key once both lines were printed. */
function ready(child: ChildProcess): Promise<{ url: string; key: string | undefined }> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stdout!.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
      const url = /^whetstone listening on (http:\S+)$/m.exec(printed)?.[1];
      if (url) resolve({ url, key: /^api key: (wk-\S+)$/m.exec(printed)?.[1] });
    });
    child.once('close', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

/** Kills an export that waits for a file of its base, a pipe. What it has written has another name, with which the next one begins again. */
async function expectNothingOfAKilledExport(args: readonly string[], env: Readonly<Record<string, string>>) {
  const base = join(dataDirectory, 'base');
  const out = join(dataDirectory, 'killed');
  await cp(modelDirectory, base, { recursive: true });
  execFileSync('mkfifo', [join(base, 'zz-pipe')]);
  const { child, ended } = start([...args, '--base', base, '--out', out], env);
  await vi.waitFor(async () => expect(await readdir(`${out}.partial`)).toContain('tokenizer.json'), PATIENT);
  child.kill('SIGKILL');
  expect((await ended).code).toBeNull();
  await expect(stat(out)).rejects.toThrow('ENOENT');

  await rm(join(base, 'zz-pipe'));
  const again = await run([...args, '--base', base, '--out', out], env);
  expect(again.code, again.stderr).toBe(0);
  expect((await readdir(dataDirectory)).filter((name) => name.startsWith('killed'))).toEqual(['killed']);
}

const PATIENT = { timeout: 30_000, interval: 50 };

let dataDirectory: string;
let modelDirectory: string;
beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'whetstone-cli-'));
  modelDirectory = await writeTinyChatModel();
});
afterAll(async () => {
  await rm(dataDirectory, { recursive: true, force: true });
  await rm(modelDirectory, { recursive: true, force: true });
});

describe('serve', () => {
  test('prints a key and its address once, serves the other commands, and exits with 0 on SIGTERM', async () => {
    const serving = start(['serve', '--port', '0', '--model', modelDirectory]);
    const { url, key } = await ready(serving.child);
    expect(key).toMatch(/^wk-/);
    const env = { WHETSTONE_URL: url, WHETSTONE_API_KEY: key! };

    expect((await stat(join(dataDirectory, 'api.key'))).mode & 0o777).toBe(0o600);
    expect((await run(['models'])).code).toBe(0); // with the address and the key from the data directory
    const second = await run(['serve', '--port', '0', '--model', modelDirectory]);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(/^error: .* is in use by the server with process id \d+/m);

    const chat = await run(['chat', 'Hello', '--max-tokens', '8', '--temperature', '0'], env);
    expect(chat.code, chat.stderr).toBe(0);
    expect(chat.stdout.length).toBeGreaterThan(1);
    const client = createClient({ baseUrl: url, apiKey: key! });
    const base = (await client.listBaseModels())[0]!;
    const model = await client.registerModel({ project: 'p', name: 'm', base_model: base });

    const messages = [{ role: 'user', content: 'Go' }];
    const { choices } = await client.chat({ model: 'default/p/m', messages, n: 2, temperature: 1, max_tokens: 6 });
    const trajectories = choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i }));
    const jobFile = join(dataDirectory, 'job.json');
    await writeFile(jobFile, JSON.stringify({ model_id: model.id, trajectory_groups: [{ trajectories }] }));
    const train = await run(['train', jobFile], env);
    expect(train.code, train.stderr).toBe(0);
    expect(train.stdout).toMatch(
      /^job [0-9a-f-]{36}\ntraining: 1 gradient step, 1 group, .*\n(warning: .*\n)*(step 1\/1 {2}loss .*\n)+trained 1 gradient step .*\np\/m:step1\n$/,
    );

    const models = (await run(['models', 'list'], env)).stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(models.slice(1, 3)).toEqual([
      [base, '-', '-', '-', '-', '-'],
      ['p/m', '1', '0.5', 'succeeded', 'just now', base],
    ]);
    expect((await run(['checkpoints', 'list', 'p/m'], env)).stdout).toMatch(
      /^CHECKPOINT +CREATED +train\/reward\np\/m:step0 +just now +-\np\/m:step1 +just now +0\.5\n/,
    );
    const tar = join(dataDirectory, 'm.tar');
    expect((await run(['checkpoints', 'best', 'p/m', '--metric', 'train/reward'], env)).stdout).toBe('p/m:step1\n');
    expect(await run(['checkpoints', 'best', 'p/m'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No checkpoint of p/m has the metric val/reward.') as string,
    });
    expect(await run(['checkpoints', 'download', 'default/p/m:step1', '--out', tar], env)).toMatchObject({
      code: 0,
      stdout: `${tar}\n`,
    });

    const rows = ['Hello', 'Go'].map((content) => ({
      messages: [
        { role: 'user', content },
        { role: 'assistant', content: 'Yes' },
      ],
    }));
    const examples = join(dataDirectory, 'train.jsonl');
    await writeFile(examples, `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
    const checked = await run(['data', 'check', examples, '--rows', '1', '--model', modelDirectory], env);
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(checked.stdout).toMatch(/Yes<\|im_end\|>⟧[^]*rows +2 \(conversation\)\n.*\nNothing is odd\.\n$/);
    const bad = join(dataDirectory, 'bad.jsonl');
    await writeFile(bad, '{"messages": []}\n');
    expect((await run(['data', 'check', bad], env)).code).toBe(1);
    const taught = await run(['train', examples, '--model', 'p/m', '--batch-size', '2', '--epochs', '2'], env);
    expect(taught.code, taught.stderr).toBe(0);
    expect(taught.stdout).toMatch(/^job .*\ntraining: 2 gradient steps, .*\n(step .*\n){2}.*\np\/m:step2\n$/);

    const pushed = await run(['artifacts', 'push', 'p/data', examples, '--alias', 'best'], env);
    expect(pushed).toMatchObject({ code: 0, stdout: 'p/data:v0\n' });
    expect((await run(['artifacts', 'ls', 'p'], env)).stdout).toMatch(
      /^ARTIFACT +TYPE [^]*\np\/data:v0 +dataset  1 .* best$/m,
    );
    const pulled = join(dataDirectory, 'pulled');
    expect((await run(['artifacts', 'pull', 'p/data:best', pulled], env)).code).toBe(0);
    expect(await readFile(join(pulled, 'train.jsonl'), 'utf8')).toBe(await readFile(examples, 'utf8'));
    expect((await run(['artifacts', 'pull', 'p/data:best', pulled], env)).stderr).toContain('there    train.jsonl');
    expect((await run(['artifacts', 'rm', 'p/data', '--yes'], env)).stdout).toBe('deleted 1 version of p/data\n');

    const peft = join(dataDirectory, 'peft');
    expect((await run(['checkpoints', 'export', 'p/m', '--out', peft], env)).stdout).toBe(`${peft}\n`);
    expect((await readdir(peft)).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    const merged = join(dataDirectory, 'merged');
    const { base_model_name_or_path: named } = JSON.parse(
      await readFile(join(peft, 'adapter_config.json'), 'utf8'),
    ) as {
      base_model_name_or_path: string;
    };
    expect(named).toBe(modelDirectory); // where PEFT finds it
    const flags = ['--merged', '--dtype', 'f32', '--out', merged]; // the server says where its base model is
    const exported = await run(['checkpoints', 'export', 'p/m', '2', ...flags], env);
    expect(exported.code, exported.stderr).toBe(0);
    expect(await readdir(merged)).toEqual(expect.arrayContaining(await readdir(modelDirectory)));
    await expectNothingOfAKilledExport(['checkpoints', 'export', 'p/m', '2', '--merged', '--dtype', 'f32'], env);

    const created = await run(['keys', 'create', '--entity', 'team', '--name', 'ci']);
    const other = createClient({ baseUrl: url, apiKey: created.stdout.trim() });
    expect((await other.registerModel({ project: 'p', name: 'm', base_model: base })).entity).toBe('team');
    const listed = await run(['keys', 'list']);
    const id = /^(\S+) +team +ci/m.exec(listed.stdout)![1]!;
    expect((await run(['keys', 'revoke', id, '--yes'])).stdout).toBe(`revoked ${id}\n`);
    await expect(other.listCallableModels()).rejects.toMatchObject({ status: 401 });

    serving.child.kill('SIGTERM');
    const outcome = await serving.ended;
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(outcome.stdout).toBe(`api key: ${key}\nwhetstone listening on ${url}\n`);
    await (await lockDataDirectory(dataDirectory)).release();
  });

  test('with a bootstrap key makes no key, takes over after kill -9, and exits with 0 on SIGINT', async () => {
    const args = ['serve', '--port', '0', '--model', modelDirectory];
    const data = await mkdtemp(join(tmpdir(), 'whetstone-cli-'));
    const env = { WHETSTONE_API_KEY: 'wk-mine', WHETSTONE_DATA: data };
    const killed = start(args, env);
    expect((await ready(killed.child)).key).toBeUndefined();
    killed.child.kill('SIGKILL');
    await killed.ended;

    const serving = start(args, env);
    const { url } = await ready(serving.child);
    expect((await createClient({ baseUrl: url, apiKey: 'wk-mine' }).listCallableModels()).length).toBe(1);
    serving.child.kill('SIGINT');
    expect((await serving.ended).code).toBe(0);
    await rm(data, { recursive: true, force: true });
  });

  test.each([
    [2, ['--port', 'x'], 'port must be an integer'],
    [2, ['--port', '99999'], 'port must be an integer'],
    [1, ['--model', '/nowhere/at/all'], 'No model /nowhere/at/all'],
    [2, ['--log-level', 'loud'], '--log-level must be one of debug, info'],
    [2, ['--base-path', 'api'], '--base-path must be a path such as'],
    [2, ['--role', 'chat'], '--role must be a comma-separated list of api, serve, train'],
    [2, ['--role', 'serve'], 'set WHETSTONE_DATABASE_URL=postgres:'],
    ...(process.platform === 'linux' ? [[1, ['--data', '/proc/nope'], '/proc/nope cannot be created'] as const] : []),
  ] as const)('exits with %i for %j and says what is wrong', async (code, args, message) => {
    const outcome = await run(['serve', ...args]);
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toContain(message);
    expect(outcome.stderr).not.toContain('    at '); // no stack
  });
});

test('commands print their usage', async () => {
  const { code, stdout } = await run(['--help']);
  expect(code).toBe(0);
  for (const command of ['serve', 'keys', 'chat', 'train', 'models', 'checkpoints', 'artifacts', 'migrate'])
    expect(stdout).toContain(command);
  expect((await run(['serve', '--help'])).stdout).toContain('WHETSTONE_TRAINING_BODY_MB_MAX');
});

test.each([
  [['models', 'create', 'demo', '--key', 'k'], 'Name the model project/name, not "demo".'],
  [['train', 'rows.jsonl', '--key', 'k'], 'Name the model to train with --model project/name.'],
  [['train', 'rows.jsonl', '--key', 'k', '--beta', '1'], '--beta belongs to DPO'],
  [['keys', 'create', '--scopes', 'all'], '--scopes must be a comma-separated list of'],
  [['limits', 'set', 'a b'], 'An entity is 1 to 64 letters'],
  [['models', '--key', 'k', '--url', 'nonsense'], 'The server’s address must be a URL'],
  [['jobs', 'list', '--limit', 'x'], "'--limit <count>' argument 'x'"],
])('wrong usage in %j exits with 2, in one line', async (args, message) => {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr.trimEnd()).not.toContain('\n');
});

test.each([
  [['artifacts', 'push', 'p/a', '/no/such/file', '--key', 'k'], '/no/such/file does not exist.'],
  [['train', '/no/such/file.json', '--key', 'k'], '/no/such/file.json does not exist.'],
  [['keys', 'list', '--data', '/no/such/store'], 'There is no data directory /no/such/store.'],
  [['limits', 'list', '--data', '/no/such/store'], 'There is no data directory /no/such/store.'],
  [
    ['limits', 'set', 'a', '--queued-jobs', '1', '--data', '/no/such/store'],
    'There is no data directory /no/such/store.',
  ],
  [['doctor', '--data', '/no/such/store'], 'There is no data directory /no/such/store.'],
  [['backup', 'copy', '--data', '/no/such/store'], 'There is no data directory /no/such/store.'],
])('%j says what is wrong and is not reported as an internal fault', async (args, message) => {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('bug in Whetstone');
});

test('a reader that closes the pipe, such as head, ends a command silently', async () => {
  const { child, ended } = start(['completion', 'bash']);
  child.stdout!.destroy();
  expect(await ended).toEqual({ code: 0, stdout: '', stderr: '' });
});

const FULL = skipUnless(existsSync('/dev/full'), 'the system has no /dev/full');

test.each([['completion', 'bash'], ['--help'], ['keys', 'list']])(
  '%s %s into a full disk is an error',
  FULL,
  async (...args) => {
    await run(['keys', 'create']);
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    expect(await start(args, {}, ['ignore', full, 'pipe']).ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: The output cannot be written: its disk is full. Free some space, and run the command again.\n',
    });
  },
);

test('a command whose notes are lost on a full disk does its work', FULL, async () => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const { code, stdout } = await start(['keys', 'create'], {}, ['ignore', 'pipe', full]).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^wk-\S+\n$/);
});

test.each(['text', 'json'])('a server whose log is on a full disk goes on, with lines as %s', FULL, async (format) => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const data = await mkdtemp(join(tmpdir(), 'whetstone-cli-'));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const args = ['serve', '--port', '0', '--model', modelDirectory, '--log-format', format];
  const { child, ended } = start(args, { WHETSTONE_DATA: data }, ['ignore', 'pipe', full]);
  const { url, key } = await ready(child);
  expect((await createClient({ baseUrl: url, apiKey: key! }).listBaseModels()).length).toBe(1);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
});

test('a command without a server says so', async () => {
  const outcome = await run(['models', '--url', 'http://127.0.0.1:9', '--key', 'wk-x']);
  expect(outcome).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('dist/cli.js serve') as string,
  });
  const elsewhere = { WHETSTONE_DATA: join(dataDirectory, 'no-server-here') };
  expect((await run(['models'], elsewhere)).stderr).toContain('No API key');
});

test.each([
  [['jobs', 'list'], 'Interrupted.'],
  [['train', 'rows.jsonl', '--model', 'p/m'], 'Interrupted while the job was submitted: check'],
  [['artifacts', 'pull', 'p/rows', 'pulled'], 'Interrupted: run the same command to continue where it stopped.'],
])('Ctrl-C in %j exits with 130 and one line', async (args, line) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1'); // never answers
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { child, ended } = start([...args, '--url', url, '--key', 'k']);
  await once(silent, 'request');
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^${line.replaceAll('.', '\\.')}[^\n]*\n$`));
});

test('a server that is not Whetstone, or has another version, is named in one line', async () => {
  const other = createServer((request, response) => {
    if (request.url!.startsWith('/v1/preview'))
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(
          JSON.stringify({ error: { message: 'Not Found: GET /v1/preview. GET /docs lists it.', code: 'not_found' } }),
        );
    else response.end('<html>');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const remote = ['--url', `http://127.0.0.1:${(other.address() as AddressInfo).port}`, '--key', 'k'];
  expect(await run(['workers', ...remote])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error: the server at \S+ does not answer as a Whetstone server: [^\n]*\n$/,
    ) as string,
  });
  expect(await run(['jobs', 'list', ...remote])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error: Not Found: .* This is whetstone \S+ the server may have another version[^\n]*\n$/,
    ) as string,
  });
});

test('migrate prepares a data directory', async () => {
  const data = await mkdtemp(join(tmpdir(), 'whetstone-cli-'));
  expect((await run(['migrate', '--data', data])).stdout).toContain('up to date');
  expect((await run(['migrate', '--data', data])).code).toBe(0);
  await rm(data, { recursive: true, force: true });
});
