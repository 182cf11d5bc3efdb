// What commands say to a person: refusals with the flags that were typed, notes beside what is shown only once, and help on a narrow
// terminal.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { register } from '../../support/api/registered-model.ts';
import { BOOTSTRAP_KEY, shareTestServer } from '../../support/api/test-server.ts';
import { newProgram, runCommand as run } from './run-command.ts';

const server = shareTestServer();
let directory: string;
let remote: readonly string[];
let data: readonly string[];
beforeAll(async () => {
  const { app } = await server;
  remote = ['--url', await app.listen({ port: 0, host: '127.0.0.1' }), '--key', BOOTSTRAP_KEY];
  directory = await mkdtemp(join(tmpdir(), 'whetstone-told-'));
  data = ['--data', join(directory, 'data')];
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('a refusal names the flag that a field of the request comes from', async () => {
  await register(await server, 'refused');
  const file = join(directory, 'one.jsonl');
  await writeFile(file, '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n');
  const train = (...flags: string[]) => run('train', file, '--model', 'p/refused', ...flags, ...remote);
  expect((await train('--epochs', '3000')).said).toMatch(
    /^--epochs: Input should be less than or equal to 1000\. \(request \w+\)$/,
  );
  const backwards = await run('usage', '--from', '2026-02-02', '--to', '2026-02-01', ...remote);
  expect(backwards.said).toBe('--to 2026-02-01 is before --from 2026-02-02.');
  const stranger = remote.map((word) => (word === BOOTSTRAP_KEY ? 'wk-other' : word));
  expect((await run('models', ...stranger)).said).toMatch(
    /^Incorrect or revoked API key\. Check --key and WHETSTONE_API_KEY, or make one with `whetstone keys create`\./,
  );
});

test('what is shown only once is said to be, where no program reads it', async () => {
  const made = await run('keys', 'create', '--name', 'once', '--scopes', 'chat', ...data);
  expect(made.stdout).toMatch(/^wk-\S+\n$/);
  expect(made.stderr).toMatch(/^The key \S+ of the entity default has the scope chat\. It is shown only now:\n$/);
  const webhook = await run('webhooks', 'create', 'http://127.0.0.1:9/', ...remote);
  expect(webhook.stdout).toMatch(/^whsec_\S+\n$/);
  expect(webhook.stderr).toMatch(/^The webhook \S+ is called for .*\. Its secret, which is shown only now:\n$/);
  const id = webhook.stderr.split(' ')[2]!;
  expect((await run('webhooks', 'rm', id, '--yes', ...remote)).stdout).toBe(`deleted ${id}\n`);
});

test('on a narrow terminal a flag’s description stands below it, and no line is wider', () => {
  const train = newProgram().program.commands.find((each) => each.name() === 'train')!;
  const textFor = (helpWidth: number) => {
    const help = Object.assign(train.createHelp(), { helpWidth });
    return help.formatHelp(train, help).split('\n');
  };
  expect(Math.max(...textFor(60).map(({ length }) => length))).toBeLessThanOrEqual(60);
  const at = textFor(60).indexOf('  --warmup <part>');
  expect(textFor(60).slice(at + 1, at + 3)).toEqual([
    '      SFT, DPO: fraction of the steps during which the',
    '      learning rate rises (default: 0.1)',
  ]);
  expect(textFor(120).join('\n')).toMatch(/^ {2}--warmup <part> {2,}SFT, DPO: fraction/m);
});

test.each([
  [
    ['job.json', '--epochs', '3'],
    '--epochs belongs to SFT, DPO: settings of an RL job are in experimental_config of its file.',
  ],
  [['job.json', '--no-packing'], '--no-packing belongs to SFT, DPO: '],
  [['job.json', '--dpo'], '--dpo is for rows, and a .json file is an RL job'],
  [['rows.jsonl', '--beta', '1'], '--beta belongs to DPO: add --dpo, or leave it out.'],
  [['rows.jsonl', '--dpo', '--assistant-turns', 'last'], '--assistant-turns belongs to SFT: leave it out.'],
  [
    ['rows.jsonl', '--samples', '4'],
    '--samples belongs to --evaluate: name a file of prompts with that, or leave it out.',
  ],
])('a job whose flags would be ignored is refused: train %j', async (words, said) => {
  expect((await run('train', ...words, ...remote)).said).toContain(said);
});

test('no kind of job takes a step of a model for the model', async () => {
  await register(await server, 'stepped');
  const file = join(directory, 'job.json');
  await writeFile(file, '{"trajectory_groups": []}');
  const { said } = await run('train', file, '--model', 'p/stepped:step0', ...remote);
  expect(said).toContain('To start from step 0: whetstone models create project/name --from p/stepped:step0');
});

test('what is about a model takes no step of it', async () => {
  await register(await server, 'whole');
  for (const words of [
    'jobs list --model',
    'episodes list --model',
    'checkpoints list',
    'checkpoints best',
    'models metrics',
    'models note',
    'models keep --all',
    'models train-online',
  ])
    expect((await run(...words.split(' '), 'p/whole:step0', ...remote)).said).toBe(
      'p/whole:step0 names a step. Name the model: p/whole.',
    );
});

test.each([
  ['doctor --model starter --repair', '--repair is about stored data, and --model about memory: call doctor for each.'],
  ['doctor --memory 4 --data there', '--data is about stored data, and --memory about memory: call doctor for each.'],
  [
    'checkpoints export p/m --dtype f32',
    '--dtype is the number format of merged weights: add --merged, or leave it out.',
  ],
  ['data check rows.jsonl --dpo --assistant-turns last', '--assistant-turns belongs to SFT: leave it out.'],
])('a flag that would change nothing is refused: %s', async (words, said) => {
  expect((await run(...words.split(' '))).said).toBe(said);
});

test('docs/configuration.md names every command that talks to a server', async () => {
  const talks = ({ options, commands }: Command): boolean =>
    options.some(({ long }) => long === '--url') || commands.some(talks);
  const names = newProgram()
    .program.commands.filter(talks)
    .map((each) => `\`${each.name()}\``);
  const [, said = ''] = /These are ([^.]*)\./.exec(await readFile('docs/configuration.md', 'utf8')) ?? [];
  expect(said.split(/, | and /).sort()).toEqual(names.sort());
});

test('a key that no header can carry, such as one with the … of an example, is refused as such', async () => {
  expect((await run('models', '--url', remote[1]!, '--key', 'wk-…')).said).toBe(
    '--key must be ASCII characters without spaces. Keys are as `whetstone serve` or `whetstone keys create` printed them.',
  );
});

test('a model with the longest name is trained from a file', async () => {
  const name = 'n'.repeat(128);
  await register(await server, name);
  const file = join(directory, 'long.jsonl');
  await writeFile(file, '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n');
  expect((await run('train', file, '--model', `p/${name}`, '--timeout', '1', ...remote)).stdout).toMatch(/^job \S+\n/);
});

test('chat says that an answer was cut off, beside the answer', async () => {
  const { stderr } = await run('chat', 'Hello', '--max-tokens', '1', '--temperature', '0', ...remote);
  expect(stderr).toBe('The answer was cut off after 1 token: raise --max-tokens.\n');
});

test('a file of another kind is not taken for the name of an artifact', async () => {
  await register(await server, 'filed');
  const file = join(directory, 'rows.csv');
  await writeFile(file, 'a,b\n');
  expect((await run('train', file, '--model', 'p/filed', ...remote)).said).toBe(
    `${file} must end in .jsonl, with a row on each line for SFT and DPO, or in .json, with an RL job.`,
  );
});

test('tasks may begin with a mark of the byte order, as Windows’ programs write it', async () => {
  const [tasks, reward] = [join(directory, 'tasks.jsonl'), join(directory, 'reward.mjs')];
  await writeFile(tasks, '\uFEFF{"messages":[{"role":"user","content":"a"}]}\r\n');
  await writeFile(reward, 'export default (answer) => answer.length;');
  const { stdout, said } = await run('probe', tasks, '--reward', reward, '--max-tokens', '2', ...remote);
  expect({ said, stdout }).toMatchObject({ stdout: expect.stringContaining('probed   1 task × 8 answers') as string });
});

test('of a file without rows, data check says so', async () => {
  const file = join(directory, 'empty.jsonl');
  await writeFile(file, '\n');
  expect((await run('data', 'check', file)).stdout).toContain('The file has no rows: a job would train nothing.\n');
});
