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
    tokenIds: encoder.encode(answer),
    promptTokenIds: null,
    ...change,
  };
  const prompt = { kind: 'message' as const, message: { role: 'user', content: 'ask' } };
  return { histories: [{ turns: [prompt, turn], tools: null }], reward, metrics: { right: reward > 0 } };
}
const group = (...trajectories: Trajectory[]) => ({ trajectories, exceptionCount: 0, metrics: {} });
const plan = (body: Partial<RlJobBody>, config: RlConfigInput = {}, lengthMax = 64, seed = 's') =>
  planRlJob({ groups: [], ...body, config }, encoder, lengthMax, seed);

test('every trained token is the one its predecessor predicts, and neighbours in a row are segments apart', () => {
  const { rows, counts } = plan({ groups: [group(rollout(1, 'abc'), rollout(0, 'xy'))] });
  expect(rows).toHaveLength(1);
  const { row, sequenceCount } = rows[0]!;
  expect(sequenceCount).toBe(2);
  expect(row.tokens).toHaveLength(2 * 4 + 3 + 2); // "ask\n" twice, no padding
  expect([...row.parents]).toEqual([-1, -1]);
  row.predictFrom.forEach((from, i) => {
    expect(row.tokens[from + 1]).toBe(row.targets[i]);
    expect(row.segments[from]).toBe(row.segments[from + 1]);
    expect(row.sequenceIds[i]).toBe(row.segments[from]);
  });
  expect([...row.targets].sort()).toEqual(encoder.encode('abcxy').sort());
  row.segments.forEach((segment, i) => {
    const starts = i === 0 || row.segments[i - 1] !== segment;
    expect(row.positions[i]).toBe(starts ? 0 : row.positions[i - 1]! + 1);
  });
  expect(row.inputs['oldLogprobs']!.every(Number.isNaN)).toBe(true);
  expect(counts).toMatchObject({
    num_groups_submitted: 1,
    num_groups_trainable: 1,
    num_trajectories: 2,
    num_datums: 2,
    num_trainable_tokens: 5,
  });
});

test('what is not trained is counted by its reason', () => {
  const { rows, skipped, counts } = plan(
    {
      groups: [
        group(rollout(1, 'a'), rollout(1, 'b')),
        group(rollout(0, 'a'), rollout(1, 'b'), rollout(2, 'c')),
        group(rollout(0, 'a', { tokenIds: null }), rollout(1, 'b', { tokenIds: [999] })),
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
    no_trainable_tokens: 1,
    unknown_tokens: 1,
    too_long: 1,
    exceptions: 3,
  });
  expect(counts).toMatchObject({ num_groups_submitted: 5, num_groups_trainable: 2, num_datums: 3 });
  expect(rows.length).toBeGreaterThan(0);
});

test('a body that trains nothing makes a plan without rows', () => {
  const { rows, skipped } = plan({ groups: [group(rollout(1, 'a'), rollout(1, 'b')), group()] });
  expect(rows).toEqual([]);
  expect(skipped).toEqual({ equal_rewards: 2 });
});

test('rows are filled up to their length; the same seed shuffles alike, another one otherwise', () => {
  const groups = Array.from({ length: 6 }, (_, g) =>
    group(...Array.from({ length: 4 }, (_, i) => rollout(i, `${g}${i}`))),
  );
  const tokensOf = (seed: string) =>
    plan({ groups }, { packedSequenceLength: 20 }, 64, seed).rows.map(({ row }) => [...row.tokens]);
  expect(tokensOf('a').every((tokens) => tokens.length <= 20)).toBe(true);
  expect(tokensOf('a')).toEqual(tokensOf('a'));
  expect(tokensOf('a')).not.toEqual(tokensOf('b'));
  expect(tokensOf('a').flat().sort()).toEqual(tokensOf('b').flat().sort());
});

test('a sequence beyond the longest row is cut at its end', () => {
  const { rows } = plan({ groups: [group(rollout(1, 'x'.repeat(100)), rollout(0, 'y'))] }, {}, 32);
  expect(Math.max(...rows.map(({ row }) => row.tokens.length))).toBe(32);
});

test('reward metrics carry the names that clients know', () => {
  expect(plan({ groups: [group(rollout(1, 'a'), rollout(0, 'b'))] }).rewards).toEqual({
    reward: 0.5,
    reward_std_dev: 0.5,
    exception_rate: 0,
    right: 0.5,
  });
});
