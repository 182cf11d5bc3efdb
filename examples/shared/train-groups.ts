// Runs a training job for the example loops: returns its id, for the pages that show it, and its number of gradient steps.
import type { Client, RlJobRequest } from '#client/client';

export interface Trained {
  readonly jobId: string;
  readonly gradientSteps: number;
}

const JOB_DEADLINE_MS = 600_000;

/** Resolves once the new checkpoint can be used. */
export async function trainGroups(client: Pick<Client, 'train'>, job: RlJobRequest): Promise<Trained> {
  let gradientSteps = 0;
  const onProgress = ({ done }: { readonly done: number }) => (gradientSteps = done);
  const { id } = await client.train(job, { deadlineMs: JOB_DEADLINE_MS, onProgress });
  return { jobId: id, gradientSteps };
}
