import { expect, test } from 'vitest';
import type { ChatMessage } from '#domain/chat';
import type { SampledTurn, TrajectoryGroup, Turn } from '#domain/trajectory';
import { createPromptUnfolding } from '#training/folded-prompts';
import { createConversationDigest } from '../../chat/conversation-digest.ts';
import { createSampledTokens } from '../../chat/sampled-tokens.ts';
import { recallTokens } from './recall-tokens.ts';

const model = { entity: 'e', baseModel: 'b', id: 'm' };
const question: ChatMessage = { role: 'user', content: 'Again?' };
const answer: ChatMessage = { role: 'assistant', content: 'yes' };

function sampled(change: Partial<SampledTurn> = {}): SampledTurn {
  return {
    kind: 'sampled',
    message: answer,
    finishReason: 'stop',
    tokens: null,
    logprobs: null,
    promptTokenIds: null,
    ...change,
  };
}

const groupOf = (copies: number, turns: readonly Turn[]): TrajectoryGroup => ({
  trajectories: Array.from({ length: copies }, () => ({ histories: [{ turns, tools: null }], reward: 1, metrics: {} })),
  exceptionCount: 0,
  metrics: {},
});

function remember(
  memory: ReturnType<typeof createSampledTokens>,
  before: readonly ChatMessage[],
  sampling: {
    promptTokens: number[];
    tokenIds: number[];
    logprobs: number[];
    isConstrained?: boolean;
    reshapedBy?: string[];
    policyStep?: number;
  },
  modelId = 'm',
): void {
  const conversation = createConversationDigest(before).read();
  const asked = { entity: 'e', baseModel: 'b', modelId, conversation };
  memory.remember(
    asked,
    { content: 'yes', calls: [] },
    { isConstrained: false, reshapedBy: [], policyStep: 0, ...sampling },
  );
}

async function recall(group: TrajectoryGroup, memory: ReturnType<typeof createSampledTokens>) {
  const groups: TrajectoryGroup[] = [];
  for await (const each of recallTokens([group], model, memory)) groups.push(each);
  return groups[0]!;
}

test('the remembered prompts of a long conversation take the memory of one, in every copy', async () => {
  const memory = createSampledTokens();
  const turns: Turn[] = [];
  const promptOf = (turn: number) => Array.from({ length: 10 * (turn + 1) }, (_, i) => 10_000 + i);
  for (let turn = 0; turn < 300; turn++) {
    turns.push({ kind: 'message', message: question });
    const before = turns.map(({ message }) => message);
    remember(memory, before, { promptTokens: promptOf(turn), tokenIds: [7], logprobs: [-1] });
    turns.push(sampled());
  }
  const recalled = await recall(groupOf(10, turns), memory);
  expect(JSON.stringify(recalled).length).toBeLessThan(10 * 300 * 400);
  const unfold = createPromptUnfolding();
  const prompts = recalled.trajectories[9]!.histories[0]!.turns.flatMap((turn) =>
    turn.kind === 'sampled' ? [unfold(turn.promptTokenIds!)] : [],
  );
  expect(prompts).toEqual(prompts.map((_, turn) => promptOf(turn)));
});

test('texts that do not determine their tokens become the sampled ids if the log-probabilities match', async () => {
  const memory = createSampledTokens();
  remember(memory, [question], { promptTokens: [1, 2], tokenIds: [7, 8], logprobs: [-0.25, -0.5] });
  const recallOne = async (change: Partial<SampledTurn>) => {
    const turns = [{ kind: 'message' as const, message: question }, sampled(change)];
    return (await recall(groupOf(1, turns), memory)).trajectories[0]!.histories[0]!.turns[1]!;
  };
  const texts = ['\uFFFD', '\uFFFD'];
  const ids = { tokens: [7, 8], promptTokenIds: [1, 2] };
  expect(await recallOne({ tokens: texts, logprobs: [-0.25, -0.5] })).toMatchObject(ids);
  expect(await recallOne({ tokens: [7, texts[1]!], logprobs: [-0.25, null] })).toMatchObject(ids);
  const others: Partial<SampledTurn>[] = [
    { tokens: texts, logprobs: [-0.25, -3] },
    { tokens: texts, logprobs: null },
    { tokens: [9, texts[1]!], logprobs: [-0.25, -0.5] },
    { tokens: ['\uFFFD'], logprobs: [-0.25] },
  ];
  for (const other of others) {
    expect(await recallOne(other)).toMatchObject({ tokens: other.tokens, promptTokenIds: [1, 2] });
  }
});

test('a constraint on sampling is recalled if the log-probabilities match, also for a choice that has all its tokens', async () => {
  const memory = createSampledTokens();
  const masked = { promptTokens: [1, 2], tokenIds: [7, 8], logprobs: [-0.25, -0.5] };
  remember(memory, [question], { ...masked, isConstrained: true });
  const isMarked = async (change: Partial<SampledTurn>) => {
    const turns = [{ kind: 'message' as const, message: question }, sampled(change)];
    const turn = (await recall(groupOf(1, turns), memory)).trajectories[0]!.histories[0]!.turns[1] as SampledTurn;
    return turn.isConstrained === true;
  };
  const { promptTokens: promptTokenIds, tokenIds: tokens, logprobs } = masked;
  expect(await isMarked({})).toBe(true);
  expect(await isMarked({ tokens, logprobs })).toBe(true);
  expect(await isMarked({ tokens, logprobs, promptTokenIds })).toBe(true);
  expect(await isMarked({ tokens, logprobs: [-0.25, -3], promptTokenIds })).toBe(false); // sampled elsewhere
  expect(await isMarked({ tokens: [9], logprobs: [-0.25], promptTokenIds })).toBe(false);
});

test('the fields that reshaped the distribution are recalled in the same way', async () => {
  const memory = createSampledTokens();
  const cold = {
    promptTokens: [1, 2],
    tokenIds: [7, 8],
    logprobs: [-0.25, -0.5],
    reshapedBy: ['temperature', 'top_p'],
  };
  remember(memory, [question], cold);
  const turnOf = async (change: Partial<SampledTurn>) => {
    const turns = [{ kind: 'message' as const, message: question }, sampled(change)];
    return (await recall(groupOf(1, turns), memory)).trajectories[0]!.histories[0]!.turns[1] as SampledTurn;
  };
  expect(await turnOf({})).toMatchObject({ tokens: [7, 8], reshapedBy: ['temperature', 'top_p'] });
  const { tokenIds: tokens } = cold;
  expect(await turnOf({ tokens, logprobs: cold.logprobs })).toMatchObject({ reshapedBy: ['temperature', 'top_p'] });
  expect(await turnOf({ tokens, logprobs: [-0.25, -3] })).not.toHaveProperty('reshapedBy'); // sampled elsewhere
});

test('a remembered choice gets the step that sampled it, whatever it says; a choice that is not remembered keeps its own', async () => {
  const memory = createSampledTokens();
  remember(memory, [question], { promptTokens: [1], tokenIds: [7], logprobs: [-1], policyStep: 3 });
  const stepOf = async (turn: SampledTurn, known = memory) => {
    const { trajectories } = await recall(groupOf(1, [{ kind: 'message', message: question }, turn]), known);
    return (trajectories[0]!.histories[0]!.turns[1] as SampledTurn).policyStep;
  };
  expect(await stepOf(sampled())).toBe(3);
  expect(await stepOf(sampled({ tokens: [7], logprobs: [-1], policyStep: 9 }))).toBe(3);
  expect(await stepOf(sampled({ tokens: [7], logprobs: [-2], policyStep: 9 }))).toBe(9); // another sample of the same tokens

  const ofOthers = createSampledTokens();
  remember(ofOthers, [question], { promptTokens: [1], tokenIds: [7], logprobs: [-1], policyStep: 3 }, 'another');
  expect(await stepOf(sampled({ tokens: [7], logprobs: [-1], policyStep: 3 }), ofOthers)).toBeUndefined();
});
