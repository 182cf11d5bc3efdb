// Reinforcement learning as a client sees it: sample groups of answers, score them, send them back, call the next checkpoint. The
// algorithm runs on the server; the reward of a task is computed here.
import type OpenAI from 'openai';
import { gather, type Client, type Model } from '#client/client';
import { inferenceName } from '../shared/inference-name.ts';
import { mean } from '../shared/statistics.ts';
import { trainGroups } from '../shared/train-groups.ts';

export interface Task {
  readonly name: string;
  /** Prompts of one step. */
  prompts(step: number): readonly string[];
  reward(prompt: string, answer: string): number;
  readonly rolloutsPerPrompt: number;
  readonly steps: number;
  readonly maxTokens: number;
  /** experimental_config of the jobs. Absent: all defaults. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface StepReport {
  readonly step: number;
  /** Mean over all rollouts of the step, sampled from the checkpoint before it. */
  readonly reward: number;
  readonly rollouts: number;
  readonly gradientSteps: number;
  readonly jobId: string;
  readonly seconds: number;
}

const PARALLEL_REQUESTS = 16;

export async function* reinforce(
  openai: OpenAI,
  client: Pick<Client, 'train'>,
  model: Model,
  task: Task,
): AsyncGenerator<StepReport> {
  for (let step = 0; step < task.steps; step++) {
    const startMs = performance.now();
    const sampled = await rollOut(openai, inferenceName(model), task, task.prompts(step), step);
    const trained = await trainGroups(client, {
      model_id: model.id,
      trajectory_groups: sampled.groups,
      ...(task.config ? { experimental_config: task.config } : {}),
    });
    const seconds = (performance.now() - startMs) / 1000;
    yield { step: step + 1, reward: sampled.reward, rollouts: sampled.trajectories, ...trained, seconds };
  }
}

/** Mean reward of sampled answers, without training. */
export const evaluate = async (...asked: Parameters<typeof evaluateEach>): Promise<number> =>
  mean(await evaluateEach(...asked));

/** The same for each prompt: [prompt]. */
export async function evaluateEach(
  openai: OpenAI,
  modelName: string,
  task: Task,
  prompts: readonly string[],
  temperature = 1,
): Promise<number[]> {
  const { groups } = await rollOut(openai, modelName, task, prompts, 1_000_000, temperature);
  return groups.map(({ trajectories }) => mean(trajectories.map(({ reward }) => reward)));
}

function rollOut(
  openai: OpenAI,
  modelName: string,
  task: Task,
  prompts: readonly string[],
  seed: number,
  temperature = 1,
) {
  return gather(
    prompts,
    async (prompt, { group, signal }) => {
      const messages = [{ role: 'user' as const, content: prompt }];
      const request = {
        model: modelName,
        messages,
        n: task.rolloutsPerPrompt,
        temperature,
        max_tokens: task.maxTokens,
        seed: (seed * 4096 + group) * 64,
      };
      const { choices } = await openai.chat.completions.create(request, { signal });
      return choices.map((choice) => ({
        messages_and_choices: [...messages, choice],
        reward: task.reward(prompt, choice.message.content ?? ''),
      }));
    },
    { concurrency: PARALLEL_REQUESTS },
  );
}
