// Prompts that are not trained on: the checkpoint of a job answers them.
import type { Client, EvaluationRequest } from '#client/client';

export interface HeldOut {
  readonly prompts: readonly {
    readonly messages: readonly unknown[];
    readonly metadata: Readonly<Record<string, unknown>>;
  }[];
  readonly samples: number;
  readonly maxTokens: number;
  readonly reward: (answer: string, metadata: Readonly<Record<string, unknown>>) => number;
}

/** `evaluation` of a job. */
export const heldOutRequest = ({ prompts, samples, maxTokens }: HeldOut): EvaluationRequest => ({
  prompts,
  samples,
  max_tokens: maxTokens,
  temperature: 1,
});

/** Mean over all answers, which the server stores with the step. */
export async function heldOutReward(client: Client, jobId: string, { reward }: HeldOut): Promise<number> {
  const mean = await client.rewardAnswers(jobId, ({ message }, { metadata }) =>
    reward(message.content ?? '', metadata),
  );
  if (mean === null) throw new Error(`Job ${jobId} has no held-out answers.`);
  return mean;
}
