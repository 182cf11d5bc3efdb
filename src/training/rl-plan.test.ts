import { expect, test } from 'vitest';
import { AppError } from '#domain/errors';
import type { RlConfigInput, RlJobBody, SampledTurn, Trajectory } from '#domain/trajectory';
import { encoder, group, rollout } from '../../test/support/training/rollouts.ts';
import { planRlJob } from './rl-plan.ts';

const plan = (body: Partial<RlJobBody>, config: RlConfigInput = {}, lengthMax = 64, seed = 's') =>
  planRlJob(body.groups ?? [], config, context(lengthMax, seed));
const context = (lengthMax: number, seed = 's') => ({
  encoder,
  budget: { contextLength: lengthMax, rowLengthMax: lengthMax, memory: memoryFor(100_000) },
  seed: () => seed,
});
/** For rows of so many tokens, at 1 MB per pair of tokens. */
const memoryFor = (tokens: number) => ({
  budgetBytes: tokens ** 2 * 1e6,
  fixedBytes: 0,
  bytesPerToken: 0,
  bytesPerPair: 1e6,
});

test('a prompt shared by siblings is in the row once, and each answer continues from it', async () => {
  const { rows, counts } = await plan({ groups: [group(rollout(1, 'abc'), rollout(0, 'xy'))] });
  expect(rows).toHaveLength(1);
  const { row, sequenceCount, tokensSaved } = rows[0]!;
  expect({ sequenceCount, tokensSaved }).toEqual({ sequenceCount: 2, tokensSaved: 4 });
  expect(row.tokens).toHaveLength(4 + 3 + 2); // "ask\n" once, no padding
  expect([...row.parents]).toEqual([-1, 0, 0]);
  expect([...row.positions.slice(0, 4)]).toEqual([0, 1, 2, 3]);
  expect(row.predictFrom.filter((from) => from === 3)).toHaveLength(2); // both answers start after the prompt
  expect([...row.targets].sort()).toEqual([...encoder.encode('abcxy')].sort());
  expect(row.inputs['oldLogprobs']!.every(Number.isNaN)).toBe(true);
  expect(counts).toMatchObject({
    num_groups_submitted: 1,
    num_groups_trainable: 1,
    num_trajectories: 2,
    num_datums: 2,
    num_trainable_tokens: 5,
  });
});

test('for a trainer that computes no shared prefixes, sequences stay separate', async () => {
  const groups = [group(rollout(1, 'abc'), rollout(0, 'xy'), rollout(3, 'abd'))];
  const { budget, ...rest } = context(20);
  const planned = (sharing: 'shared' | 'separate') =>
    planRlJob(groups, { packedSequenceLength: 14 }, { ...rest, budget: { ...budget, sharing } });
  const { rows, counts } = await planned('separate');
  expect(rows.map(({ tokensSaved }) => tokensSaved)).toEqual([0, 0]);
  expect(rows.reduce((sum, { row }) => sum + row.tokens.length, 0)).toBe(7 + 6 + 7);
  for (const { row, members } of rows) {
    expect([...row.parents]).toEqual(members.map(() => -1));
    expect([...row.tokens]).toEqual(members.flatMap(({ tokens }) => [...tokens]));
    expect([...row.positions]).toEqual(members.flatMap(({ tokens }) => [...tokens.keys()]));
    expect([...row.segments]).toEqual(members.flatMap(({ tokens }, i) => [...tokens].map(() => i)));
    row.targets.forEach((target, i) => expect(row.tokens[row.predictFrom[i]! + 1]).toBe(target));
  }
  const shared = await planned('shared');
  expect(shared.rows.length).toBe(1);
  expect(counts).toEqual(shared.counts);
});

test('untrained trajectories are counted by reason', async () => {
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

test('rows are filled up to 2048 tokens if memory allows; a job that asked for another length gets a warning', async () => {
  const groups = Array.from({ length: 40 }, (_, g) =>
    group(...Array.from({ length: 4 }, (_, i) => rollout(i, `${g} ${i} `.padEnd(30, 'x')))),
  );
  const lengths = async (config: RlConfigInput, rowLengthMax: number, memory = memoryFor(100_000)) => {
    const budget = { contextLength: 64, rowLengthMax, memory };
    const { rows, warnings } = await planRlJob(groups, config, { ...context(64), budget });
    return { rows: rows.map(({ row }) => row.tokens.length), warnings };
  };
  const byDefault = await lengths({}, 100_000);
  expect(byDefault.rows).toHaveLength(3); // of 40 groups with 4 + 4 · 30 tokens each
  expect(Math.max(...byDefault.rows)).toBeGreaterThan(1900);
  expect(byDefault.warnings).toEqual([]);
  const small = await lengths({}, 200);
  expect(Math.max(...small.rows)).toBeLessThanOrEqual(200);
  expect(small.warnings).toEqual([]);
  expect((await lengths({ packedSequenceLength: 500 }, 200, memoryFor(200))).warnings).toEqual([
    'packed_sequence_length became 200 instead of 500: training a row of 500 tokens needs about 250.0 GB, and the trainer has 40.0 GB for it, enough for 200 tokens (--training-memory, of a worker --memory).',
  ]);
  expect((await lengths({ packedSequenceLength: 500 }, 200)).warnings).toEqual([
    'packed_sequence_length became 200 instead of 500: the trainer takes rows of at most 200 tokens, whatever its memory.',
  ]);
  expect((await lengths({ packedSequenceLength: 10 }, 200)).warnings).toEqual([
    'packed_sequence_length became 34 instead of 10: the longest sequence of the job needs it.',
  ]);
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

test('a sequence beyond the context is cut at its end, and its rollout counted as truncated', async () => {
  const { rows, skipped, counts } = await plan(
    { groups: [group(rollout(1, 'x'.repeat(100)), rollout(0, 'y')), group(rollout(1, 'z'.repeat(100)))] },
    {},
    32,
  );
  expect(Math.max(...rows.map(({ row }) => row.tokens.length))).toBe(32);
  expect(skipped).toEqual({ truncated: 1, equal_rewards: 1 }); // an untrained rollout does not count as truncated
  expect(counts).toMatchObject({ num_datums: 2 });
});

test('prompts that the server does not know are counted and reported, if their rollouts are trained', async () => {
  const lost = { promptTokenIds: null };
  const groups = [
    group(rollout(0, 'a', lost), rollout(2, 'b', lost), rollout(4, 'c'), rollout(2, 'd')),
    group(rollout(1, 'x', lost), rollout(0, 'y', lost)),
    group(rollout(1, 'equal', lost), rollout(1, 'rewards', lost)),
  ];
  const { counts, warnings } = await plan({ groups });
  expect(counts).toMatchObject({ num_datums: 4, num_rendered_prompts: 3 });
  expect(warnings).toEqual([expect.stringMatching(/^3 prompts were rendered from the messages: .* prompt_token_ids/)]);
  const kept = await plan({ groups: [group(rollout(1, 'a'), rollout(0, 'b'))] });
  expect(kept.counts).toMatchObject({ num_datums: 2, num_rendered_prompts: 0 });
  expect(kept.warnings).toEqual([]);
});

test('choices that are only context in a trained trajectory are named with the reason', async () => {
  const [turn] = rollout(1, 'a').histories[0]!.turns.slice(1);
  const lost = { tokens: null } as const;
  const uneven = { logprobs: [-1, -2] } as const;
  const trajectoryOf = (reward: number, ...changes: readonly object[]): Trajectory => ({
    ...rollout(reward, 'a'),
    histories: [{ turns: [...changes.map((change) => ({ ...turn, ...change }) as SampledTurn), turn!], tools: null }],
  });
  const groups = [group(trajectoryOf(1, lost, uneven), trajectoryOf(0, lost), rollout(4, 'c'))];
  const { skipped, warnings } = await plan({ groups });
  expect(skipped).toEqual({});
  expect(warnings).toEqual([
    '3 choices of trained trajectories were context and not trained (2 no_logprobs, 1 logprob_count_mismatch). Send choices as they came from the chat endpoint.',
  ]);
  expect((await plan({ groups: [group(trajectoryOf(1, lost), trajectoryOf(1, lost))] })).warnings).toEqual([]);
});

test('turns with log-probabilities of a masked distribution are counted and reported, if no policy recomputes them', async () => {
  const masked = { isConstrained: true, logprobs: [-1] } as const;
  const groups = [
    group(rollout(0, 'a', masked), rollout(3, 'b', masked), rollout(4, 'c', { ...masked, logprobs: [null] })),
    group(rollout(1, 'x', { isConstrained: true }), rollout(0, 'y', { logprobs: [-1] })),
    group(rollout(1, 'e', masked), rollout(1, 'f', masked)),
  ];
  const { counts, warnings } = await plan({ groups });
  expect(counts).toMatchObject({ num_datums: 5, num_constrained_turns: 2 });
  expect(warnings).toEqual([
    expect.stringMatching(/^2 turns were sampled under a constraint .* precalculate_logprobs/),
  ]);
  const precalculated = await plan({ groups }, { precalculateLogprobs: true });
  expect(precalculated.counts).toMatchObject({ num_constrained_turns: 2 });
  expect(precalculated.warnings).toEqual([]);
});

test('trained turns that were sampled off-policy are counted and reported', async () => {
  const groups = [
    group(
      rollout(0, 'a', { reshapedBy: ['top_p'] }),
      rollout(3, 'b', { reshapedBy: ['temperature', 'top_p'] }),
      rollout(9, 'c'),
    ),
    group(rollout(1, 'e', { reshapedBy: ['min_p'] }), rollout(1, 'f', { reshapedBy: ['min_p'] })),
  ];
  const { counts, warnings } = await plan({ groups });
  expect(counts).toMatchObject({ num_datums: 3, num_reshaped_turns: 2 });
  expect(warnings).toEqual([
    expect.stringMatching(/^2 turns were sampled off-policy, .* that temperature, top_p changed/),
  ]);
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

test('a body that becomes too many tokens is refused before all of them are created', async () => {
  const turns = [1, 2, 3].map((prompt): SampledTurn => {
    const [turn] = rollout(1, 'answer', {
      promptTokenIds: new Array<number>(40).fill(prompt),
    }).histories[0]!.turns.slice(1);
    return turn as SampledTurn;
  });
  const rewritten = (reward: number): Trajectory => ({ histories: [{ turns, tools: null }], reward, metrics: {} });
  const groups = [group(rewritten(1), rewritten(0))];
  const limited = (tokensMax: number) => planRlJob(groups, {}, { ...context(64), tokensMax });
  expect((await limited(2 * 3 * 46)).counts.num_datums).toBe(6);
  await expect(limited(2 * 3 * 46 - 1)).rejects.toMatchObject({
    code: 'invalid_training_data',
    message: expect.stringContaining('several jobs') as string,
  });
  await expect(limited(100)).rejects.toMatchObject({ code: 'invalid_training_data' });
});

test('a rollout whose conversation the chat template refuses is skipped and counted, and the others are trained', async () => {
  const refusing = {
    ...encoder,
    renderPrompt: (...[messages, context]: Parameters<typeof encoder.renderPrompt>) => {
      if (messages.some(({ content }) => content === 'refused')) throw new AppError('invalid_request', 'No.');
      return encoder.renderPrompt(messages, context);
    },
  };
  const bad = rollout(3, 'abc', { promptTokenIds: null });
  const [history] = bad.histories;
  const turns = history!.turns.map((turn) =>
    turn.kind === 'message' ? { ...turn, message: { ...turn.message, content: 'refused' } } : turn,
  );
  const groups = [group(rollout(1, 'abc'), rollout(0, 'xy'), { ...bad, histories: [{ ...history!, turns }] })];
  const { counts, skipped } = await planRlJob(groups, {}, { ...context(64), encoder: refusing });
  expect(skipped).toMatchObject({ refused_by_template: 1 });
  expect(counts.num_datums).toBe(2);
});

test('max_staleness skips whole trajectories by their oldest token, with their place; what says no step is trained, with a warning', async () => {
  const groups = [
    group(rollout(1, 'ab', { policyStep: 5 }), rollout(0, 'cd', { policyStep: 2 })),
    group(rollout(1, 'ef', { policyStep: 4 }), rollout(0, 'gh')),
  ];
  const planned = (maxStaleness?: number) =>
    planRlJob(groups, maxStaleness === undefined ? {} : { maxStaleness }, { ...context(64), startStep: 5 });
  const all = await planned();
  expect(all.skipped).toEqual({});
  expect(all.staleness).toEqual({ mean: (2 * 0 + 2 * 3 + 2 * 1) / 6, max: 3 });
  expect(all.warnings.join()).not.toContain('max_staleness');

  const bounded = await planned(1);
  expect(bounded.skipped).toEqual({ stale: 1 });
  expect(bounded.outcomes).toEqual([{ group: 0, trajectory: 1, reason: 'stale' }]);
  expect(bounded.staleness).toEqual({ mean: 0.5, max: 1 });
  expect(bounded.warnings).toEqual([expect.stringMatching(/1 trained turn does not say which step/)]);
  expect(bounded.counts.num_trainable_tokens).toBe(6);

  expect((await planned(0)).skipped).toEqual({ stale: 2 });
});

test('a rollout that says at which step it began is as old as that where its choices say nothing', async () => {
  const began = (initialPolicyVersion: number, change: Partial<SampledTurn> = {}): Trajectory => ({
    ...rollout(initialPolicyVersion, 'ab', change),
    notes: { initialPolicyVersion },
  });
  const groups = [group(began(1), began(4), began(-1, { policyStep: 3 }))];
  const { skipped, outcomes, staleness } = await planRlJob(
    groups,
    { maxStaleness: 2 },
    { ...context(64), startStep: 4 },
  );
  expect(skipped).toEqual({ stale: 1 });
  expect(outcomes[0]).toMatchObject({ trajectory: 0 });
  expect(staleness).toEqual({ mean: 0.5, max: 1 });
});

test('the reward of a turn changes the advantage of its own tokens only', async () => {
  const turns = (reward: number, ...own: (number | undefined)[]): Trajectory => {
    const { histories, ...rest } = rollout(reward, 'ab');
    const [asked] = histories[0]!.turns;
    const said = own.map((turnReward, i): SampledTurn => ({
      ...(histories[0]!.turns[1] as SampledTurn),
      promptTokenIds: encoder.encode(`ask\n${'ab\n'.repeat(i)}`),
      ...(turnReward === undefined ? {} : { reward: turnReward }),
    }));
    return { ...rest, histories: [{ turns: [asked!, ...said], tools: null }] };
  };
  const planned = (...trajectories: Trajectory[]) =>
    plan({ groups: [group(...trajectories)] }, { scaleRewards: false });
  const advantagesOf = ({ rows }: Awaited<ReturnType<typeof planned>>) =>
    rows
      .flatMap(({ members }) => members)
      .sort((a, b) => a.origin!.trajectory - b.origin!.trajectory)
      .map(({ advantage, runs, runAdvantages }) => runs!.map((_, i) => runAdvantages?.[i] ?? advantage));

  // Equal rewards of the rollouts: only the turn that has a reward is trained.
  const equal = await planned(turns(1, undefined, 1), turns(1, undefined, undefined));
  const [[first, second]] = advantagesOf(equal) as [[number, number]];
  expect([Math.abs(first), Math.sign(second)]).toEqual([0, 1]);
  expect(equal.skipped).toEqual({ zero_advantage: 1 });
  const { row } = equal.rows[0]!;
  expect([...row.inputs['advantages']!].map(Math.sign)).toEqual([0, 0, 1, 1]);

  // Unequal ones: the other turns keep their proportion.
  const unequal = advantagesOf(await planned(turns(1, undefined, 1), turns(0, undefined, undefined)));
  expect(unequal[0]![0]! / unequal[1]![0]!).toBeCloseTo(-1, 10);
  expect(unequal[1]![0]).toBe(unequal[1]![1]);
  expect(unequal[0]![1]! / unequal[0]![0]!).toBeCloseTo((0.5 + 0.75) / 0.5, 10);

  // Equal rewards of the turns too: nothing to learn.
  expect((await planned(turns(1, 1, 1), turns(1, 1, 1))).skipped).toEqual({ equal_rewards: 2 });
});

test('groups whose rewards are equal are counted among those with something to compare', async () => {
  const groups = [
    group(rollout(1, 'abc'), rollout(1, 'xy')),
    group(rollout(1, 'ab'), rollout(0, 'xy')),
    group(rollout(1, 'a')),
  ];
  expect(await plan({ groups })).toMatchObject({ comparedGroups: 2, equalGroups: 1, cutOffTrajectories: 0 });
});

test('trajectories with an answer that ended at its token limit are counted, trained or not', async () => {
  const ended = rollout(1, 'abc');
  const cut = (reward: number): Trajectory => ({
    ...rollout(reward, 'xy'),
    histories: rollout(reward, 'xy').histories.map((history) => ({
      ...history,
      turns: history.turns.map((turn) => (turn.kind === 'sampled' ? { ...turn, finishReason: 'length' } : turn)),
    })),
  });
  const groups = [group(ended, cut(0)), group(cut(1), cut(1))];
  expect(await plan({ groups })).toMatchObject({ cutOffTrajectories: 3 });
});
