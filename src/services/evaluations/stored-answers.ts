// Prompts and answers of evaluations in the blob store: one blob for all prompts, one per prompt for its answers, each with a checksum.
// An existing answer is never made again.
import { parseSentJson, stringifySentJson } from '#base/sent-json';
import { answersBlob, evaluationBodyBlob } from '#domain/blob-names';
import { AppError } from '#domain/errors';
import type { Evaluation, EvaluationBody, PromptAnswers } from '#domain/evaluation';
import type { BlobStore } from '#storage/blobs';
import { openSealed, parseSealedJson, sealJson, sealText } from '../jobs/data/sealed-json.ts';
import type { Read } from '../shared-reads.ts';

type EvaluatedJob = Pick<Evaluation, 'jobId' | 'modelId'>;

export const putEvaluationBody = (
  blobs: Pick<BlobStore, 'put'>,
  { modelId, jobId }: EvaluatedJob,
  body: EvaluationBody,
): Promise<{ sizeBytes: number }> => blobs.put(evaluationBodyBlob(modelId, jobId), sealText(stringifySentJson(body)));

/** Throws `damaged_data`, or `not_found` if they have been deleted. */
export const readEvaluationBody = async (blobs: Pick<BlobStore, 'find'>, job: EvaluatedJob): Promise<EvaluationBody> =>
  (await readSizedBody(blobs, job)).value;

/** Throws as above. */
export async function readSizedBody(
  blobs: Pick<BlobStore, 'find'>,
  { modelId, jobId }: EvaluatedJob,
): Promise<Read<EvaluationBody>> {
  const bytes = await blobs.find(evaluationBodyBlob(modelId, jobId));
  if (!bytes) throw promptsGone(jobId);
  const text = openSealed(bytes);
  if (text !== null) return { value: parseSentJson(text, 'rounded') as EvaluationBody, sizeBytes: bytes.length };
  throw new AppError('damaged_data', `The stored prompts of the evaluation of job ${jobId} are damaged.`);
}

export const promptsGone = (jobId: string): AppError =>
  new AppError('not_found', `The prompts of the evaluation of job ${jobId} are not stored any more.`);

export async function putAnswers(
  blobs: Pick<BlobStore, 'put'>,
  { modelId, jobId }: EvaluatedJob,
  prompt: number,
  answers: PromptAnswers,
): Promise<{ blob: string; sizeBytes: number }> {
  const blob = answersBlob(modelId, jobId, prompt);
  return { blob, ...(await blobs.put(blob, sealJson(answers))) };
}

/** Returns null if there are none, or the stored bytes are damaged. */
export async function findAnswers(
  blobs: Pick<BlobStore, 'find'>,
  { modelId, jobId }: EvaluatedJob,
  prompt: number,
): Promise<{ answers: PromptAnswers; blob: string; sizeBytes: number } | null> {
  const blob = answersBlob(modelId, jobId, prompt);
  const bytes = await blobs.find(blob);
  const opened = bytes && parseSealedJson<PromptAnswers>(bytes);
  return opened ? { answers: opened.value, blob, sizeBytes: bytes.length } : null;
}
