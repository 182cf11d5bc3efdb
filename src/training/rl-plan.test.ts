import { expect, test } from 'vitest';
import type { RlConfigInput, RlJobBody, SampledTurn, Trajectory } from '#domain/trajectory';
import { planRlJob } from './rl-plan.ts';
import type { ConversationEncoder } from './tokenize.ts';

/** One token per character, so that lengths are seen at a glance; turns end with a newline. */
const encoder: ConversationEncoder = {
  vocabSize: 256,
  renderPrompt: (messages) => messages.map(({ content }) => `${content as string}\n`).join(''),
  renderClosed: (messages) => messages.map(({ content }) => `${content as string}\n`).join(''),
  turnEnd: '\n',
  encode: (text) => [...text].map((character) => character.charCodeAt(0)),
  tokenId: () => null,
};

function rollout(reward: number, answer: string, change: Partial<SampledTurn> = {}): Trajectory {
  const turn: SampledTurn = {
    kind: 'sampled',
    message: { role: 'assistant', content: answer },
    finishReason: 'stop',
    logprobs: null,
    tokens: encoder.encode(answer),
    promptTokenIds: null,
    ...change,
  };
  const prompt = { kind: 'message' as const, message: { role: 'user', content: 'ask' } };
  return { histories: [{ turns: [prompt, turn], tools: null }], reward, metrics: { right: reward > 0 } };
}
const group = (...trajectories: Trajectory[]) => ({ trajectories, exceptionCount: 0, metrics: {} });
const plan = (body: Partial<RlJobBody>, config: RlConfigInput = {}, lengthMax = 64, seed = 's') =>
  planRlJob(body.groups ?? [], config, {
    encoder,
    budget: {
      contextLength: lengthMax,
      rowLengthMax: lengthMax,
      memory: { budgetBytes: 1e6, fixedBytes: 0, bytesPerToken: 1, bytesPerPair: 1 },
    },
    seed: () => seed,
  });

test('a prompt that siblings share is in the row once, and each answer goes on from it', async () => {
  const { rows, counts } = await plan({ groups: [group(rollout(1, 'abc'), rollout(0, 'xy'))] });
  expect(rows).toHaveLength(1);
  const { row, sequenceCount, tokensSaved } = rows[0]!;
  expect({ sequenceCount, tokensSaved }).toEqual({ sequenceCount: 2, tokensSaved: 4 });
  expect(row.tokens).toHaveLength(4 + 3 + 2); // "ask\n" once, no padding
  expect([...row.parents]).toEqual([-1, 0, 0]);
  expect([...row.positions.slice(0, 4)]).toEqual([0, 1, 2, 3]);
  expect(row.predictFrom.filter((from) => from === 3)).toHaveLength(2); // both answers begin after the prompt
  expect([...row.targets].sort()).toEqual(encoder.encode('abcxy').sort());
  expect(row.inputs['oldLogprobs']!.every(Number.isNaN)).toBe(true);
  expect(counts).toMatchObject({
    num_groups_submitted: 1,
    num_groups_trainable: 1,
    num_trajectories: 2,
    num_datums: 2,
    num_trainable_tokens: 5,
  });
});

test('what is not trained is counted by its reason', async () => {
  const { rows, skipped, counts } = await plan(
    {
      groups: [
        group(rollout(1, 'a'), rollout(1, 'b')),
        group(rollout(0, 'a'), rollout(1, 'b'), rollout(2, 'c')),
        group(rollout(0, 'a', { tokens: null }), rollout(1, 'b', { tokens: [999] })),
        group(rollout(0, 'a', { promptTokenIds: new Array<number>(80).fill(65) }), rollout(1, 'b')),
        { ...group(), exceptionCount: 3 },
      ],
    },
    {},
    64,
  );
  expect(skipped).toEqual({
    equal_rewards: 2,
    zero_advantage: 1,
    no_logprobs: 1,
    unknown_tokens: 1,
    too_long: 1,
    exceptions: 3,
  });
  expect(counts).toMatchObject({ num_groups_submitted: 5, num_groups_trainable: 2, num_datums: 3 });
  expect(rows.length).toBeGreaterThan(0);
});

test('a body that trains nothing makes a plan without rows', async () => {
  const { rows, skipped } = await plan({ groups: [group(rollout(1, 'a'), rollout(1, 'b')), group()] });
  expect(rows).toEqual([]);
  expect(skipped).toEqual({ equal_rewards: 2 });
});

test('rows are filled up to their length; the same seed shuffles alike, another one otherwise', async () => {
  const groups = Array.from({ length: 6 }, (_, g) =>
    group(...Array.from({ length: 4 }, (_, i) => rollout(i, `${g}${i}`))),
  );
  const targetsOf = async (seed: string) => {
    const { rows } = await plan({ groups }, { packedSequenceLength: 20 }, 64, seed);
    expect(rows.every(({ row }) => row.tokens.length <= 20)).toBe(true);
    expect(rows[0]!.row.tokens.length).toBe(Math.max(...rows.map(({ row }) => row.tokens.length)));
    return rows.map(({ row }) => [...row.targets]);
  };
  const first = await targetsOf('a');
  expect(first.length).toBeGreaterThan(1);
  expect(await targetsOf('a')).toEqual(first);
  const other = await targetsOf('b');
  expect(other).not.toEqual(first);
  expect(other.flat().sort()).toEqual(first.flat().sort());
});

test('a sequence beyond the longest row is cut at its end', async () => {
  const { rows } = await plan({ groups: [group(rollout(1, 'x'.repeat(100)), rollout(0, 'y'))] }, {}, 32);
  expect(Math.max(...rows.map(({ row }) => row.tokens.length))).toBe(32);
});

test('reward metrics carry the names that clients know', async () => {
  const { rewards } = await plan({ groups: [group(rollout(1, 'a'), rollout(0, 'b'))] });
  expect(rewards).toEqual({
    reward: 0.5,
    reward_std_dev: 0.5,
    exception_rate: 0,
    right: 0.5,
  });
});
