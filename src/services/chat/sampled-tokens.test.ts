import { expect, test } from 'vitest';
import { createSampledTokens, type ConversationKey } from './sampled-tokens.ts';

const asked: ConversationKey = { entity: 'e', baseModel: 'm', modelId: 'own', conversation: 'c' };
const words = (content: string) => ({ content, calls: [] });
const sampling = (promptTokens: number[], tokenIds: number[], logprob = -0.5, isConstrained = false) => ({
  promptTokens,
  tokenIds,
  logprobs: tokenIds.map(() => logprob),
  isConstrained,
  reshapedBy: [],
  policyStep: 0,
});

test('the same words of two steps are two answers, each with its step and log-probabilities; of another model no step is known', () => {
  const memory = createSampledTokens();
  const older = sampling([1], [7], -0.5);
  const newer = { ...sampling([1], [7], -0.4), policyStep: 1 };
  memory.remember(asked, words('yes'), older, { id: 'a', index: 0 });
  memory.remember(asked, words('yes'), newer, { id: 'b', index: 0 });
  memory.remember(asked, words('yes'), newer, { id: 'c', index: 0 }); // once more at the same step: kept once
  const found = (id: string) => memory.findAnswer(asked, { id, index: 0 });
  expect([found('a')!.policyStep, found('a')!.logprobs[0]]).toEqual([0, -0.5]);
  expect(found('b')).toEqual(found('c'));
  expect([found('b')!.policyStep, found('b')!.logprobs[0]]).toEqual([1, Math.fround(-0.4)]);
  expect(memory.findTokens(asked, [7], [-0.5])!.policyStep).toBe(0);
  expect(memory.findWords(asked, words('yes'), null)!.policyStep).toBe(1);
  expect(memory.findWords({ ...asked, modelId: 'fork' }, words('yes'), [-0.5])!.policyStep).toBeNull();
});

test('the latest answer with equal words is found, each by its own tokens, and none of another entity, base model or conversation', () => {
  const memory = createSampledTokens();
  const [first, second] = [sampling([1, 2], [7, 8]), sampling([1, 2], [9])];
  memory.remember(asked, words('yes'), first);
  memory.remember(asked, words('yes'), second);
  expect(memory.findWords(asked, words('yes'), null)).toEqual(second);
  expect(memory.findTokens(asked, [7, 8], null)).toEqual(first);
  expect(memory.findTokens(asked, [9], null)).toEqual(second);
  expect(memory.findWords(asked, words('no'), null)).toBeNull();
  for (const other of [{ entity: 'x' }, { baseModel: 'x' }, { conversation: 'x' }]) {
    expect(memory.findTokens({ ...asked, ...other }, [9], null)).toBeNull();
    expect(memory.findWords({ ...asked, ...other }, words('yes'), null)).toBeNull();
  }
});

test('an answer is found by its id, also among equal ones; an id that was given twice finds nothing', () => {
  const memory = createSampledTokens();
  const [first, second] = [sampling([1, 2], [9], -0.5), sampling([1, 3], [9], -0.75)];
  memory.remember(asked, words('yes'), first, { id: 'a', index: 0 });
  memory.remember(asked, words('yes'), second, { id: 'b', index: 1 });
  expect(memory.findAnswer(asked, { id: 'a', index: 0 })).toEqual(first);
  expect(memory.findAnswer(asked, { id: 'b', index: 1 })).toEqual(second);
  expect(memory.findAnswer(asked, { id: 'b', index: 0 })).toBeNull();
  expect(memory.findAnswer({ ...asked, entity: 'x' }, { id: 'a', index: 0 })).toBeNull();
  memory.remember(asked, words('yes'), first, { id: 'c', index: 0 }); // the same again: both ids find it
  expect(memory.findAnswer(asked, { id: 'a', index: 0 })).toEqual(first);
  expect(memory.findAnswer(asked, { id: 'c', index: 0 })).toEqual(first);
  memory.remember(asked, words('no'), second, { id: 'a', index: 0 });
  expect(memory.findAnswer(asked, { id: 'a', index: 0 })).toBeNull();
});

test('equal answers to requests with different tools are told apart by their log-probabilities; without them none is found', () => {
  const memory = createSampledTokens();
  const [add, subtract] = [sampling([1, 2], [9], -0.5), sampling([1, 3], [9], -0.75)];
  memory.remember(asked, words('yes'), add);
  memory.remember(asked, words('yes'), subtract);
  expect(memory.findTokens(asked, [9], [-0.5])).toEqual(add);
  expect(memory.findWords(asked, words('yes'), [-0.75])).toEqual(subtract);
  for (const unknown of [null, [null], [-3]]) {
    expect(memory.findTokens(asked, [9], unknown)).toBeNull();
    expect(memory.findWords(asked, words('yes'), unknown)).toBeNull();
  }
});

test('equal answers to one prompt, one of them constrained, are told apart by their log-probabilities', () => {
  const memory = createSampledTokens();
  const [masked, free] = [sampling([1, 2], [9], -0.25, true), sampling([1, 2], [9], -0.75)];
  memory.remember(asked, words('yes'), masked);
  memory.remember(asked, words('yes'), free);
  expect(memory.findTokens(asked, [9], [-0.25])).toEqual(masked);
  expect(memory.findTokens(asked, [9], [-0.75])).toEqual(free);
});

test('of equal answers to one prompt, one off-policy and one not, the on-policy one is found', () => {
  const memory = createSampledTokens();
  const ofPolicy = sampling([1, 2], [9]);
  const greedy = { ...ofPolicy, reshapedBy: ['temperature'] };
  memory.remember(asked, words('yes'), greedy);
  expect(memory.findWords(asked, words('yes'), null)).toEqual(greedy);
  memory.remember(asked, words('yes'), ofPolicy);
  memory.remember(asked, words('yes'), greedy); // an evaluation asks the same again
  expect(memory.findWords(asked, words('yes'), null)).toEqual(ofPolicy);
  expect(memory.findTokens(asked, [9], null)).toEqual(ofPolicy);
});

test('of equal answers of several models, the one of the job’s model is found, or another’s if it has none', () => {
  const memory = createSampledTokens();
  const other = { ...asked, modelId: 'other' };
  const [mine, others] = [sampling([1, 2], [9], -0.5), sampling([1, 2], [9], -0.75)];
  memory.remember(asked, words('yes'), mine);
  memory.remember(other, words('yes'), others);
  expect(memory.findWords(asked, words('yes'), null)).toEqual(mine);
  expect(memory.findWords(other, words('yes'), null)).toEqual(others);
  expect(memory.findWords({ ...asked, modelId: 'third' }, words('yes'), null)).toEqual({ ...others, policyStep: null });
});

test('the oldest answers are forgotten if there is no room', () => {
  const room = createSampledTokens();
  room.remember(asked, words('0'), sampling([0, 0], [0]));
  const memory = createSampledTokens(6 * room.sizeBytes);
  const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => {
    memory.remember(asked, words(String(id)), sampling([id, id], [id]));
    return id;
  });
  expect(ids.filter((id) => memory.findTokens(asked, [id], null))).toEqual([4, 5, 6, 7, 8, 9]);
  for (let again = 0; again < 20; again++) memory.remember(asked, words('9'), sampling([9, 9], [9]));
  expect(memory.findTokens(asked, [4], null)).not.toBeNull(); // the same sampling takes no additional room
  memory.remember(asked, words('long'), sampling([], new Array<number>(10_000).fill(1)));
  expect(memory.findWords(asked, words('long'), null)).toBeNull();
});

test('of many equal answers to different prompts, the latest are kept', () => {
  const memory = createSampledTokens();
  for (let id = 0; id < 100; id++) memory.remember(asked, words('yes'), sampling([id], [9], -id));
  expect(memory.findTokens(asked, [9], [-99])).toEqual(sampling([99], [9], -99));
  expect(memory.findTokens(asked, [9], [-50])).toBeNull();
});

test('the counted memory is close to the real memory for many short answers to one prompt', () => {
  const memory = createSampledTokens();
  const prompt = Array.from({ length: 100 }, (_, i) => i);
  for (let i = 0; i < 60_000; i++) {
    memory.remember({ ...asked, conversation: String(i) }, words('yes'), sampling(prompt, [9]));
  }
  expect(memory.findTokens({ ...asked, conversation: '59999' }, [9], null)).not.toBeNull();
  expect(memory.findTokens({ ...asked, conversation: '0' }, [9], null)).toBeNull(); // all of them would take 89 MB of heap
  expect(memory.sizeBytes).toBeLessThanOrEqual(64e6);
});
