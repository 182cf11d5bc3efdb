// Rollouts of one question and its answer, for tests that process them, in tokens of one character.
import type { ChatMessage } from '#domain/chat';
import type { SampledTurn, Trajectory, TrajectoryGroup } from '#domain/trajectory';
import { characterEncoder } from './character-encoder.ts';

const render = (messages: readonly ChatMessage[]): string =>
  messages.map(({ content }) => `${content as string}\n`).join('');

export const encoder = characterEncoder(render, render);

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
