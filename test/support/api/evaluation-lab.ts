// Setup for tests of evaluations: a job that requests one, the checkpoint that it would make, and a runner that answers.
import { expect, vi } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import type { Chat } from '#services/chat/chat';
import { createEvaluationRunner, type EvaluationRunner } from '#services/evaluations/evaluation-runner';
import { BASE, send, type TestServer } from './test-server.ts';

export const JOBS = '/v1/preview/training-jobs';

export const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

/** Submits the job; returns its id. */
export async function submitEvaluated(server: TestServer, model_id: string, evaluation: object): Promise<string> {
  const response = await send(server, { url: JOBS, body: { model_id, trajectory_groups: [], evaluation } });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<{ id: string }>().id;
}

/** Ends a job as the job runner does: with a checkpoint whose adapter changes nothing. Returns the step. */
export async function endJob(
  { storage, clock }: TestServer,
  id: string,
  metrics: Readonly<Record<string, number>> = {},
): Promise<number> {
  const claim = async () => (await storage.jobs.claim('w', clock.now(), 1_000_000, null))!;
  let job = await claim();
  while (job.id !== id) job = await claim(); // other jobs of the file wait too
  const { attempt, modelId } = job;
  const step = (await storage.jobs.assignStep(id, attempt))!;
  const zero = (await storage.checkpoints.find(modelId, 0))!;
  const [endedAtMs, event] = [clock.now(), { id: createId(), jobId: id, ordinal: 0, data: {} }];
  const ended = await storage.jobs.finish(id, attempt, {
    status: 'succeeded',
    errorMessage: null,
    endedAtMs,
    event: { ...event, type: 'training_ended', createdAtMs: endedAtMs },
    checkpoint: { ...zero, id: createId(), step, metrics, createdAtMs: endedAtMs },
  });
  expect(ended).toBe(true);
  return step;
}

export function aRunner(
  { storage, blobs, services, jobEvents, clock }: TestServer,
  { chat = services.chat, exclusive = true }: { readonly chat?: Chat; readonly exclusive?: boolean } = {},
): EvaluationRunner {
  const retryPolicy = { initialDelayMs: 1, maxDelayMs: 20, totalMs: 60_000 };
  const about = { exclusive, baseModels: [BASE], retryPolicy, clock, log: silentLog };
  return createEvaluationRunner({ storage, blobs, chat, jobEvents, ...about });
}

export interface AnsweredPrompt {
  readonly id: string;
  readonly messages: readonly { readonly content: string }[];
  readonly error: string | null;
  readonly answers:
    | readonly {
        readonly message: { readonly content: string };
        readonly finish_reason: string;
        readonly token_ids: readonly number[];
        readonly logprobs: readonly number[];
        readonly reward: number | null;
      }[]
    | null;
}

/** Runs it until it has ended. */
export async function evaluated(server: TestServer, id: string): Promise<void> {
  const runner = aRunner(server);
  await runner.start();
  await untilEnded(server, id);
  await runner.stop();
}

export const untilEnded = (server: TestServer, id: string): Promise<void> =>
  vi.waitFor(async () => expect((await server.storage.evaluations.find(id))?.endedAtMs).not.toBeNull(), {
    timeout: 60_000,
    interval: 20,
  });

export async function answersOf(server: TestServer, id: string): Promise<readonly AnsweredPrompt[]> {
  const response = await send(server, { url: `${JOBS}/${id}/evaluation/answers` });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<{ data: AnsweredPrompt[] }>().data;
}
