// Recorded calls → histories: which call continues which, and what is refused.
import { expect, test } from 'vitest';
import { RefusedCall } from './exchanges.ts';
import { trajectoryGroup } from './trajectory.ts';
import { check } from '#validation/parse';

const user = (content: string) => ({ role: 'user', content });
const choice = (content: string) => ({
  index: 0,
  finish_reason: 'stop',
  message: { role: 'assistant', content },
  token_ids: [1],
});
const call = (messages: object[], ...choices: object[]) => ({
  request: { model: 'm', messages },
  response: { id: 'chatcmpl-1', choices, prompt_token_ids: [5, 6] },
});
const read = (trajectory: object) => check(trajectoryGroup, { trajectories: [trajectory] });
const histories = (...calls: object[]) => {
  const { data, error } = read({ exchanges: { chat_completions: calls }, reward: 1 });
  expect(error).toBeUndefined();
  return data!.trajectories[0]!.histories.map(({ turns }) =>
    turns.map((turn) => `${turn.kind === 'sampled' ? '*' : ''}${turn.message.content as string}`).join(' '),
  );
};

test('a call that continues a conversation continues its history, however the client wrote the answer back', () => {
  const back = { role: 'assistant', content: [{ type: 'text', text: 'b' }], tool_calls: null, refusal: null };
  expect(histories(call([user('a')], choice('b')), call([user('a'), back, user('c')], choice('d')))).toEqual([
    'a *b c *d',
  ]);
});

test('another conversation, a fork and further choices are histories of their own; shared answers are trained once', () => {
  const first = call([user('a')], choice('b'), choice('B'));
  const then = [user('a'), { role: 'assistant', content: 'b' }];
  expect(
    histories(
      first,
      call([...then, user('c')], choice('d')),
      call([...then, user('e')], choice('f')),
      call([user('x')], choice('y')),
    ),
  ).toEqual(['a *b c *d', 'a *B', 'a b e *f', 'x *y']);
});

test('prompt ids of the response go to its choices', () => {
  const { data } = read({ exchanges: { chat_completions: [call([user('a')], choice('b'))] } });
  expect(data!.trajectories[0]!.histories[0]!.turns[1]).toMatchObject({
    promptTokenIds: [5, 6],
    tokens: [1],
    answer: { id: 'chatcmpl-1', index: 0 },
  });
});

test.each([
  [{}, 'messages_and_choices, or exchanges'],
  [{ exchanges: { chat_completions: [], completions: [] } }, 'messages_and_choices, or exchanges'],
  [{ exchanges: { chat_completions: [new RefusedCall(['messages', 0], 'No.')] } }, 'No.'],
  [{ exchanges: { chat_completions: [{ request: {} }] } }, 'must have a request'],
  [{ messages_and_choices: [user('a')], exchanges: { chat_completions: [call([user('a')], choice('b'))] } }, 'either'],
])('%j is refused in words', (trajectory, words) => {
  expect(
    read(trajectory)
      .error!.issues.map(({ message }) => message)
      .join(),
  ).toContain(words);
});
