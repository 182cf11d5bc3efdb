// Bad data is named before anything is sent, with its line and in the words of the command.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { refuseBadGroups, refuseBadLines } from './check-rows.ts';

async function fileOf(...lines: string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-rows-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'rows.jsonl');
  await writeFile(file, lines.join('\n'));
  return file;
}

const good = '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}';
const pair = '{"prompt": "a", "chosen": "b", "rejected": "c"}';

test('files that a job takes pass, with empty lines', async () => {
  await refuseBadLines(await fileOf(good, '', good), 'sft');
  await refuseBadLines(await fileOf(pair), 'dpo');
  await refuseBadLines(await fileOf('{"messages": [{"role": "user", "content": "a"}]}'), 'evaluation');
});

test('each bad line is named once, and the file as the user wrote it', async () => {
  const file = await fileOf(good, '{"messages": []}', 'no json');
  const refused = refuseBadLines(file, 'sft');
  await expect(refused).rejects.toThrow(
    /^2 lines of \S+rows\.jsonl cannot be used, so nothing was sent\. line 2: .+; /,
  );
  await expect(refused).rejects.toThrow(/line 3: is not JSON: .*\. All problems: whetstone data check \S+rows\.jsonl$/);
  const many = await fileOf(...Array.from({ length: 5 }, () => '[]'));
  await expect(refuseBadLines(many, 'evaluation')).rejects.toThrow(/; and 2 more\.$/);
});

test('rows of the other kind of job, and files without rows, are refused', async () => {
  await expect(refuseBadLines(await fileOf(pair), 'sft')).rejects.toThrow(/^1 line of /);
  await expect(refuseBadLines(await fileOf(good), 'dpo')).rejects.toThrow(/^1 line of /);
  await expect(refuseBadLines(await fileOf(''), 'sft')).rejects.toThrow(/has no rows\. Nothing was sent\.$/);
});

test('groups of an RL job are checked by the rules of the server', () => {
  const trajectory = { messages_and_choices: [{ role: 'user', content: 'Go' }], reward: 1 };
  const job = (...trajectories: object[]) => ({
    trajectory_groups: [{ trajectories: [trajectory] }, { trajectories }],
  });
  refuseBadGroups('job.json', job(trajectory));
  refuseBadGroups('job.json', { episode_groups: [['e']] });
  expect(() => refuseBadGroups('job.json', job({ ...trajectory, reward: 'high' }))).toThrow(
    /^1 group of job\.json cannot be used, so nothing was sent\. trajectory_groups\.1: trajectories\.0\.reward: /,
  );
  for (const other of [[trajectory], { messages: [] }, null])
    expect(() => refuseBadGroups('job.json', other)).toThrow(/^job\.json must be an object with trajectory_groups or /);
});
