// Rewards for held-out answers: waits until a job's checkpoint has answered, calls the caller's reward function, and logs the rewards.
import { waitForEvaluation } from './follow.ts';
import type { Http } from './http.ts';
import { insist } from './retry.ts';
import type { AnsweredPrompt, LogRequest, TrainingJob } from './wire.ts';

export type Answer = NonNullable<AnsweredPrompt['answers']>[number];

/** Returns the reward of an answer; the prompt has the metadata that it was sent with. */
export type AnswerReward = (answer: Answer, prompt: AnsweredPrompt) => number | Promise<number>;

/** Returns the mean reward; null if there are no answers. Throws if the evaluation failed. */
export async function rewardAnswers(
  http: Http,
  path: { readonly job: string; readonly model: (id: string) => string },
  jobId: string,
  reward: AnswerReward,
  signal: AbortSignal,
): Promise<number | null> {
  const evaluation = await waitForEvaluation(http, path.job, signal);
  if (evaluation?.status === 'failed') throw new Error(`The evaluation failed: ${evaluation.error_message}`);
  const trajectory_groups: LogRequest['trajectory_groups'][number][] = [];
  for await (const prompt of http.rows<AnsweredPrompt>(`${path.job}/evaluation/answers`)) {
    const trajectories = (prompt.answers ?? []).map(async (answer) => ({
      messages_and_choices: [],
      reward: await reward(answer, prompt),
    }));
    trajectory_groups.push({ trajectories: await Promise.all(trajectories) }); // empty for a prompt without answers
  }
  if (trajectory_groups.every(({ trajectories }) => trajectories.length === 0)) return null;
  const { model_id: model } = await insist(() => http.call<TrainingJob>('GET', path.job, { signal }), signal);
  const body: LogRequest = { split: 'val', evaluation_job_id: jobId, trajectory_groups };
  const logged = await http.call<{ metrics: Record<string, number> }>('POST', `${path.model(model)}/log`, {
    body,
    signal,
  });
  return logged.metrics['val/reward'] ?? null;
}
