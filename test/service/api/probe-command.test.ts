// `whetstone probe`, run in this process against a listening server: what the reward gets, what is printed, and what is refused.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { explain } from '../../../src/commands/explain.ts';
import { addProbe } from '../../../src/commands/probe.ts';
import { createRemote } from '../../../src/commands/remote.ts';
import { BOOTSTRAP_KEY, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();
let url: string;
let directory: string;
beforeAll(async () => {
  url = await server.app.listen({ port: 0, host: '127.0.0.1' });
  directory = await mkdtemp(join(tmpdir(), 'whetstone-probe-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const TASKS = [
  '{"messages":[{"role":"user","content":"Go"}],"least":1}',
  '',
  '{"messages":[{"role":"user","content":"Stop"},{"role":"assistant","content":"No"}],"least":2}',
];

/** `said`: the text that cli.ts writes after `error: `; null: the command succeeded. */
async function probe(reward: string, lines: readonly string[] = TASKS, flags: readonly string[] = []) {
  const [tasks, module] = [join(directory, 'tasks.jsonl'), join(directory, `reward-${randomUUID()}.mjs`)];
  await writeFile(tasks, lines.join('\n'));
  await writeFile(module, reward);
  const program = new Command().exitOverride();
  addProbe(program, createRemote());
  const words = ['probe', tasks, '--reward', module, '--samples', '4', '--max-tokens', '3', ...flags];
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const said = await program.parseAsync(['node', 'whetstone', ...words, '--url', url, '--key', BOOTSTRAP_KEY]).then(
      () => null,
      (error: unknown) => explain(error, { lastUrl: url, hasAnswered: true, version: '0.0.0' }),
    );
    return { stdout: write.mock.calls.map(([text]) => String(text)).join(''), said };
  } finally {
    write.mockRestore();
  }
}

test('the reward gets the text, the line of the task and the whole choice, and groups that differ are counted', async () => {
  const { stdout, said } = await probe(
    `export default (answer, task, choice) => {
      (globalThis.probed ??= []).push({ answer, task, choice });
      return task.least === 1 ? globalThis.probed.length % 2 : Promise.resolve(0);
    };`,
    TASKS,
    ['--json'],
  );
  expect(said).toBeNull();
  expect(JSON.parse(stdout)).toMatchObject({
    tasks: 2,
    answers: 8,
    groups: { failed: 1, solved: 0, unanswered: 0 },
    groups_of_tasks: [{ line: 1 }, { line: 3, rewards: [0, 0, 0, 0] }],
  });
  interface Given {
    readonly answer: string;
    readonly task: { readonly messages: readonly unknown[]; readonly least: number };
    readonly choice: unknown;
  }
  const { probed } = globalThis as unknown as { readonly probed: readonly Given[] };
  expect(probed).toHaveLength(8);
  for (const { answer, choice } of probed)
    expect(choice).toMatchObject({ message: { role: 'assistant', content: answer } });
  const reference = probed.filter(({ task }) => task.least === 2).map(({ task }) => task.messages.at(-1));
  expect(reference).toEqual(Array.from({ length: 4 }, () => ({ role: 'assistant', content: 'No' })));
});

test('people read the figures and the verdict, and the same seed gives the same', async () => {
  const reward = 'export const reward = (answer) => answer.length % 2 === 0;';
  const { stdout } = await probe(reward);
  expect(stdout).toMatch(/^probed {3}2 tasks × 4 answers of .*$/m);
  expect(stdout).toMatch(/^(?:Yes|Slowly|No): RL .*\n(?:- .*\n)*- 2 tasks with 4 answers each say little/m);
  expect((await probe(reward)).stdout).toBe(stdout);
  expect((await probe(reward, TASKS, ['--limit', '1'])).stdout).toMatch(/^probed {3}1 task \(of 2 in the file\)/);
});

test.each([
  ['export default () => NaN;', /^The reward of the answer to line 1 is NaN, which no job can train on\.$/],
  ['export default () => undefined;', /^The reward of the answer to line 1 is undefined, not a number\.$/],
  ['export default () => { throw new Error("no judge"); };', /^The reward of the answer to line 1 failed: no judge$/],
  ['export const rewards = 1;', /must export a function of answer and task/],
  ['export default (', /reward-\S+\.mjs cannot be loaded: /],
])('the reward module %s is refused in words', async (module, why) => {
  const { stdout, said } = await probe(module, TASKS.slice(0, 1));
  expect(stdout).toBe('');
  expect(said).toMatch(why);
});

test.each([
  [['{"messages":[]}'], /tasks\.jsonl, line 1: /],
  [['', '{"question":"Go"}'], /tasks\.jsonl, line 2: .*messages/],
  [['', ''], /tasks\.jsonl has no tasks\.$/],
])('the tasks %j are refused, with the line', async (lines, why) => {
  const { stdout, said } = await probe('export default () => 1;', lines);
  expect(stdout).toBe('');
  expect(said).toMatch(why);
});

test('where no task can be answered, the server’s words say why', async () => {
  const { said } = await probe('export default () => 1;', TASKS, ['--model', 'p/nobodys']);
  expect(said).toMatch(/nobodys/);
  expect(said).not.toMatch(/bug in Whetstone/);
});

test('a task that the server refuses is counted, and the others are judged', async () => {
  const refused = JSON.stringify({ messages: [{ role: 'user', content: 'word '.repeat(100_000) }] });
  const { stdout, said } = await probe('export default (answer) => answer.length;', [refused, TASKS[0]!]);
  expect(said).toBeNull();
  expect(stdout).toMatch(/^groups .*1 could not be answered$/m);
  expect(stdout).toMatch(/^not answered: line 1: /m);
});
