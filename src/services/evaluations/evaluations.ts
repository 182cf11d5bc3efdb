// Evaluations as their owners see them: progress, answers with their rewards, cancelling. evaluation-runner.ts runs them. Rewards are
// those of the latest log that names the job.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Evaluation, EvaluationAnswer, EvaluationBody, EvaluationPrompt } from '#domain/evaluation';
import { unknownCursor, type Listing, type Order, type Page } from '#domain/page';
import type { TrainingJob } from '#domain/training-job';
import type { Trajectory } from '#domain/trajectory';
import type { TrajectoryLog } from '#domain/trajectory-log';
import type { BlobStore } from '#storage/blobs';
import type { EvaluationOfStep } from '#storage/evaluation-store';
import type { Storage } from '#storage/storage';
import { getOwnModel } from '../models/own-model.ts';
import { parseIndex } from '../jobs/reading-back/group-pages.ts';
import { parsePiece, readStoredPieces } from '../jobs/data/stored-pieces.ts';
import { createSharedReads } from '../shared-reads.ts';
import { findAnswers, promptsGone, readSizedBody } from './stored-answers.ts';

export type { EvaluationOfStep };

export interface Evaluations {
  /** Null: the job has none. Throws `job_not_found`, as all of these do for another entity's job. */
  find(caller: Caller, jobId: string): Promise<Evaluation | null>;
  /** Throws `not_found` if the job has none. */
  get(caller: Caller, jobId: string): Promise<EvaluationDetail>;
  /** The evaluations of a model's jobs, in order of submission. Throws `model_not_found`. */
  list(caller: Caller, modelId: string, page: Page, order: Order): Promise<Listing<EvaluationOfStep>>;
  /** By prompt. Throws `not_found`, also if the answers have been deleted. */
  listAnswers(caller: Caller, jobId: string, page: Page): Promise<Listing<AnsweredPrompt>>;
  /** Cancels the evaluation; the job and its checkpoint stay. Throws `not_found`, `job_finished`. */
  cancel(caller: Caller, jobId: string): Promise<Evaluation>;
}

export interface EvaluationDetail {
  readonly evaluation: Evaluation;
  readonly job: TrainingJob;
  /** Null: deleted. */
  readonly body: Pick<EvaluationBody, 'settings' | 'source'> | null;
  /** Mean of the rewards; null: none were sent. */
  readonly log: TrajectoryLog | null;
}

export interface AnsweredPrompt {
  readonly index: number;
  readonly prompt: EvaluationPrompt;
  /** Null: not yet answered. */
  readonly answers: readonly RewardedAnswer[] | null;
  /** Why it could not be answered. */
  readonly error: string | null;
}

export interface RewardedAnswer extends EvaluationAnswer {
  /** Null: none was sent. */
  readonly reward: Pick<Trajectory, 'reward' | 'metrics' | 'notes'> | null;
}

export interface EvaluationsDeps {
  readonly storage: Storage;
  readonly blobs: Pick<BlobStore, 'find' | 'stream'>;
  readonly getJob: (caller: Caller, id: string) => Promise<TrainingJob>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A page ends after the prompt whose answers exceed this. */
const ANSWER_BYTES = 4_000_000;
/** Of prompts: four of the largest evaluations, each of which is read for every page of its answers. */
const REMEMBERED_BYTES_MAX = 32e6;

export function createEvaluations({ storage, blobs, getJob, clock, log }: EvaluationsDeps): Evaluations {
  async function getOwn(caller: Caller, jobId: string): Promise<{ job: TrainingJob; evaluation: Evaluation }> {
    const job = await getJob(caller, jobId);
    const evaluation = await storage.evaluations.find(jobId);
    if (evaluation) return { job, evaluation };
    throw new AppError('not_found', `Training job ${jobId} has no evaluation: its request named no prompts.`);
  }

  const bodies = createSharedReads<EvaluationBody>(REMEMBERED_BYTES_MAX);
  async function bodyOf(evaluation: Evaluation): Promise<EvaluationBody> {
    const { jobId, isKept } = evaluation;
    const body = isKept ? await bodies.find(jobId, () => readSizedBody(blobs, evaluation)) : null;
    if (body) return body;
    throw promptsGone(jobId);
  }

  return {
    async find(caller, jobId) {
      await getJob(caller, jobId);
      return storage.evaluations.find(jobId);
    },

    async get(caller, jobId) {
      const own = await getOwn(caller, jobId);
      const body = own.evaluation.isKept ? await bodyOf(own.evaluation) : null;
      return { ...own, body, log: await storage.trajectoryLogs.findOfEvaluation(jobId) };
    },

    async list(caller, modelId, page, order) {
      await getOwnModel(storage, caller, modelId);
      return storage.evaluations.list(modelId, page, order);
    },

    async listAnswers(caller, jobId, { after, limit }) {
      const { evaluation } = await getOwn(caller, jobId);
      const { prompts } = await bodyOf(evaluation);
      const from = after === null ? 0 : parseIndex(after) + 1;
      if (from > prompts.length) throw unknownCursor(after!);
      const rows: AnsweredPrompt[] = [];
      let bytes = 0;
      for (let index = from; index < prompts.length && rows.length < limit && bytes <= ANSWER_BYTES; index++) {
        const stored = await findAnswers(blobs, evaluation, index);
        const { answers, error } = stored?.answers ?? { answers: null, error: null };
        rows.push({
          index,
          prompt: prompts[index]!,
          error,
          answers: answers?.map((each) => ({ ...each, reward: null })) ?? null,
        });
        bytes += stored?.sizeBytes ?? 0;
      }
      const rewards = await readRewards(jobId, from, from + rows.length);
      return { rows: rows.map((row) => withRewards(row, rewards)), hasMore: from + rows.length < prompts.length };
    },

    async cancel(caller, jobId) {
      await getOwn(caller, jobId);
      const outcome = await storage.evaluations.requestCancel(jobId, clock.now());
      log.info('evaluation.cancel_requested', { jobId, outcome });
      if (outcome === 'already_finished')
        throw new AppError('job_finished', `The evaluation of training job ${jobId} has finished already.`);
      return (await getOwn(caller, jobId)).evaluation;
    },
  };

  /** By prompt and sample. */
  async function readRewards(jobId: string, from: number, to: number): Promise<ReadonlyMap<string, Trajectory>> {
    const rewards = new Map<string, Trajectory>();
    const logged = await storage.trajectoryLogs.findOfEvaluation(jobId);
    const content = logged && to > from ? await blobs.stream(logged.blob) : null;
    if (!logged || !content) return rewards;
    const wanted = { group: (group: number) => group >= from && group < to, trajectory: () => true };
    for await (const piece of readStoredPieces(content, logged.blob, wanted)) {
      if (piece.kind === 'trajectory')
        rewards.set(`${piece.group}.${piece.index}`, parsePiece<Trajectory>(piece.bytes, logged.blob));
      if (piece.kind === 'group' && piece.group >= to - 1) break;
    }
    return rewards;
  }
}

const withRewards = (row: AnsweredPrompt, rewards: ReadonlyMap<string, Trajectory>): AnsweredPrompt => ({
  ...row,
  answers: row.answers?.map((answer, i) => ({ ...answer, reward: rewards.get(`${row.index}.${i}`) ?? null })) ?? null,
});
