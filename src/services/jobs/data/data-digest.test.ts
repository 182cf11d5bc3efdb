import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { SampledTurn, TrajectoryGroup, Turn } from '#domain/trajectory';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { readGroups, writeGroups } from './stored-groups.ts';

const sampled = (promptTokenIds: readonly number[] | null, change: Partial<SampledTurn> = {}): Turn => ({
  kind: 'sampled',
  message: { role: 'assistant', content: 'yes' },
  finishReason: 'stop',
  tokens: [7],
  logprobs: [-0.5],
  promptTokenIds,
  ...change,
});
const groupOf = (...turns: Turn[]): TrajectoryGroup => ({
  trajectories: [{ histories: [{ turns, tools: null }], reward: 1, metrics: {} }],
  exceptionCount: 0,
  metrics: {},
});

const callOf = (id: string) => ({ id, type: 'function', function: { name: 'add', arguments: '{}' } }) as const;

test('warnings, prompt ids, constraints and ids of tool calls do not change the digest, everything else does; bodies of older versions without tool calls keep their digest', async () => {
  const blobs = createMemoryBlobs();
  const digestOf = async () => {
    const { groups, digest } = await readGroups((await blobs.stream('body'))!, 'body');
    for await (const _ of groups);
    return digest();
  };
  const digestFor = async (head: object, ...groups: TrajectoryGroup[]) => {
    await writeGroups(blobs, 'body', head, groups);
    return digestOf();
  };
  const { promptTokenIds: _, ...older } = sampled(null) as Turn & { promptTokenIds: null };
  const lines = [{ learningRate: 1 }, groupOf(older as Turn)].map((line) => JSON.stringify(line));
  const expected = createHash('sha256').update(lines.join('')).digest('hex');
  await blobs.put('body', Buffer.from(`${[...lines, JSON.stringify({ sha256: expected })].join('\n')}\n`));
  expect(await digestOf()).toBe(expected);

  const turns = [
    sampled(null),
    sampled([1, 2]),
    sampled([3]),
    sampled(null, { isConstrained: true, reshapedBy: ['top_p'] }),
  ];
  for (const turn of turns) expect(await digestFor({ learningRate: 1 }, groupOf(turn))).toBe(expected);
  expect(await digestFor({ learningRate: 1, warnings: ['said'] }, groupOf(turns[1]!))).toBe(expected);
  const withCall = (id: string) =>
    groupOf(sampled(null, { message: { role: 'assistant', content: null, tool_calls: [callOf(id)] } }), {
      kind: 'message',
      message: { role: 'tool', content: '3', tool_call_id: id },
    });
  expect(await digestFor({ learningRate: 1 }, withCall('a'))).toBe(await digestFor({ learningRate: 1 }, withCall('b')));
  expect(await digestFor({ learningRate: 2 }, groupOf(turns[1]!))).not.toBe(expected);
  expect(await digestFor({ learningRate: 1 }, groupOf(turns[1]!, turns[1]!))).not.toBe(expected);
});
