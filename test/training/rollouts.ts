// Rollouts of one question and its answer, for tests that process them: one token per character, so that lengths are easy to see;
// turns end with a newline.
import type { SampledTurn, Trajectory, TrajectoryGroup } from '#domain/trajectory';
import type { ConversationEncoder } from '#training/tokenize';

export const encoder: ConversationEncoder = {
  vocabSize: 260,
  renderPrompt: (messages) => messages.map(({ content }) => `${content as string}\n`).join(''),
  renderClosed: (messages) => messages.map(({ content }) => `${content as string}\n`).join(''),
  turnEnd: '\n',
  encode: (text) => [...text].map((character) => character.charCodeAt(0)),
  findToken: () => null,
};

export function rollout(reward: number, answer: string, change: Partial<SampledTurn> = {}): Trajectory {
  const turn: SampledTurn = {
    kind: 'sampled',
    message: { role: 'assistant', content: answer },
    finishReason: 'stop',
    logprobs: null,
    tokens: encoder.encode(answer),
    promptTokenIds: encoder.encode('ask\n'),
    ...change,
  };
  const prompt = { kind: 'message' as const, message: { role: 'user', content: 'ask' } };
  return { histories: [{ turns: [prompt, turn], tools: null }], reward, metrics: { right: reward > 0 } };
}

export const group = (...trajectories: Trajectory[]): TrajectoryGroup => ({
  trajectories,
  exceptionCount: 0,
  metrics: {},
});
