// One attempt at one evaluation: a few prompts at a time, ranked below all client requests. Each answer is stored when it is complete;
// existing ones are only counted, so that an attempt after a crash continues with the first that is missing.
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { Evaluation } from '#domain/evaluation';
import { checkpointName } from '#domain/model-name';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { findStoredCaller } from '../accounts/stored-caller.ts';
import type { Chat } from '../chat/chat.ts';
import { withRetries, type RetryPolicy } from '../retry-policy.ts';
import { answerPrompt, type PlacedPrompt } from './answer-prompt.ts';
import { findAnswers, putAnswers, readEvaluationBody } from './stored-answers.ts';

export interface EvaluationRunDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly chat: Chat;
  /** Retries while an engine is away, a queue is full, a limit is reached, or the storage cannot work. */
  readonly retryPolicy: RetryPolicy;
}

export interface RunContext {
  readonly log: Log;
  /** Called before each write: aborts the signal if another attempt has taken over. */
  readonly renewLease: () => Promise<void>;
  /** Aborts when the run has to end. */
  readonly signal: AbortSignal;
}

/** Fills the batch of a small engine, and loses little when the engine dies. */
const PROMPTS_AT_ONCE = 4;

/** Resolves when every prompt is done or the signal has aborted. Throws errors that end the evaluation. */
export async function runEvaluation(
  evaluation: Evaluation,
  { storage, blobs, chat, retryPolicy }: EvaluationRunDeps,
  { log, renewLease, signal }: RunContext,
): Promise<void> {
  const { jobId, entity, keyId, attempt } = evaluation;
  const retrying = <T>(work: () => Promise<T>): Promise<T> => withRetries(work, retryPolicy, log, signal, isPassing);

  const { prompts, settings } = await retrying(() => readEvaluationBody(blobs, evaluation));
  const { model, project } = await retrying(() => findCheckpoint(storage, evaluation));
  const caller = await retrying(() => findStoredCaller(storage, evaluation));
  const counts = { answeredCount: 0, failedCount: 0 };
  const left = prompts.map((prompt, index): PlacedPrompt => ({ index, prompt, settings, model })).values();
  let isFaulty = false;

  async function answerSome(): Promise<void> {
    for (const placed of left) {
      const stored = await retrying(() => findAnswers(blobs, evaluation, placed.index));
      const { answers, blob, sizeBytes } = stored ?? (await answerAndStore(placed));
      await retrying(() => storage.accounts.addBlob({ blob, entity, keyId, sizeBytes })); // also if stored before: it may not have been charged
      counts.answeredCount++;
      if (answers.error !== null) counts.failedCount++;
      await retrying(() => storage.evaluations.updateProgress(jobId, attempt, { ...counts }, stored === null));
      if (signal.aborted || isFaulty) return;
    }
  }

  async function answerAndStore(placed: PlacedPrompt) {
    const about = { requestId: `evaluation-${jobId}-${placed.index}`, project, signal };
    const answers = await retrying(() => answerPrompt(chat, caller, placed, about));
    await retrying(renewLease);
    signal.throwIfAborted();
    return { answers, ...(await retrying(() => putAnswers(blobs, evaluation, placed.index, answers))) };
  }

  const faults: unknown[] = [];
  const runs = Array.from({ length: PROMPTS_AT_ONCE }, () =>
    answerSome().catch((error: unknown) => {
      isFaulty = true;
      faults.push(error);
    }),
  );
  await Promise.all(runs); // nothing runs on after this
  if (faults.length > 0 && !signal.aborted) throw faults[0];
}

const isPassing = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === 'too_many_requests' || error.code === 'engine_unavailable');

async function findCheckpoint(
  { models, jobs, checkpoints }: Storage,
  { jobId, modelId }: Evaluation,
): Promise<{ model: string; project: string }> {
  const [model, job] = [await models.find(modelId), await jobs.find(jobId)];
  const checkpoint = job && job.step !== null ? await checkpoints.find(modelId, job.step) : null;
  if (model && checkpoint) return { model: checkpointName(model, checkpoint.step), project: model.project };
  throw new AppError('checkpoint_not_found', 'The checkpoint was deleted before it had answered every prompt.');
}
