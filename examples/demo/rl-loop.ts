// Reinforcement learning as a client sees it: sample groups of answers, score them, send them back, call the next
// checkpoint. The whole algorithm is on the server; what a task rewards is here.
import type OpenAI from 'openai';
import type { Model, TrainingApi, TrajectoryGroup } from '../shared/training-api.ts';

export interface Task {
  readonly name: string;
  /** Prompts of one step. */
  prompts(step: number): readonly string[];
  reward(prompt: string, answer: string): number;
  readonly rolloutsPerPrompt: number;
  readonly steps: number;
  readonly maxTokens: number;
  readonly learningRate: number;
}

export interface StepReport {
  readonly step: number;
  /** Mean over all rollouts of the step, sampled from the checkpoint before it. */
  readonly reward: number;
  readonly rollouts: number;
  readonly gradientSteps: number;
  readonly seconds: number;
}

const PARALLEL_REQUESTS = 16;

export const inferenceName = (model: Model): string =>
  `wandb-artifact:///${model.entity}/${model.project}/${model.name}`;

export async function* reinforce(
  openai: OpenAI,
  api: TrainingApi,
  model: Model,
  task: Task,
): AsyncGenerator<StepReport> {
  for (let step = 0; step < task.steps; step++) {
    const startMs = performance.now();
    const { groups, reward, rollouts } = await rollOut(openai, inferenceName(model), task, task.prompts(step), step);
    const gradientSteps = await api.train(model, groups, { learning_rate: task.learningRate });
    yield { step: step + 1, reward, rollouts, gradientSteps, seconds: (performance.now() - startMs) / 1000 };
  }
}

/** Mean reward of sampled answers, without training. */
export async function evaluate(
  openai: OpenAI,
  modelName: string,
  task: Task,
  prompts: readonly string[],
): Promise<number> {
  return (await rollOut(openai, modelName, task, prompts, 1_000_000)).reward;
}

async function rollOut(openai: OpenAI, modelName: string, task: Task, prompts: readonly string[], seed: number) {
  const groups: TrajectoryGroup[] = [];
  const rewards: number[] = [];
  for (let at = 0; at < prompts.length; at += PARALLEL_REQUESTS) {
    const sampled = await Promise.all(
      prompts.slice(at, at + PARALLEL_REQUESTS).map(async (prompt, i) => {
        const messages = [{ role: 'user' as const, content: prompt }];
        const { choices } = await openai.chat.completions.create({
          model: modelName,
          messages,
          n: task.rolloutsPerPrompt,
          temperature: 1,
          max_tokens: task.maxTokens,
          seed: (seed * 4096 + at + i) * 64,
        });
        return choices.map((choice) => ({
          messages_and_choices: [...messages, choice],
          reward: task.reward(prompt, choice.message.content ?? ''),
        }));
      }),
    );
    for (const trajectories of sampled) {
      groups.push({ trajectories });
      rewards.push(...trajectories.map(({ reward }) => reward));
    }
  }
  return { groups, reward: rewards.reduce((a, b) => a + b, 0) / rewards.length, rollouts: rewards.length };
}
