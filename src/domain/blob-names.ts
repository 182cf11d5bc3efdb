// What lies where in the blob store: every name that is stored under is made here, and read back here. What makes a name safe as
// a path is storage/blob-name.ts.

/** The first segments of all names, but those in quarantine. */
export const BLOB_ROOTS = ['checkpoints', 'jobs', 'artifacts', 'logs', 'evaluations', 'responses', 'tinker'] as const;

/** A directory. One for each attempt: what a worker stores whose lease has lapsed is never that of the job's next one. */
export const jobCheckpointBlob = (modelId: string, jobId: string, attempt: number): string =>
  `checkpoints/${modelId}/${jobId}.${attempt}`;
/** The directory of step 0, which no job made: a copy of another model's checkpoint, or an adapter that changes nothing. */
export const stepZeroBlob = (modelId: string, from: 'fork' | 'fresh'): string =>
  `checkpoints/${modelId}/${from === 'fork' ? 'fork' : '0'}`;

export const jobBodyBlob = (jobId: string): string => `jobs/${jobId}/body.jsonl`;
export const jobPreparationBlob = (jobId: string): string => `jobs/${jobId}/prepared.json`;
/** What training computed of each token (services/jobs/token-record.ts). */
export const jobRecordBlob = (jobId: string): string => `jobs/${jobId}/record.bin`;
/** Above everything of a job's progress. */
export const jobProgressBlobs = (jobId: string): string => `jobs/${jobId}/resume`;
/** Says which state is the current one. */
export const progressPointerBlob = (jobId: string): string => `${jobProgressBlobs(jobId)}/current.json`;
/** A directory. */
export const progressStateBlob = (jobId: string, stepsDone: number): string =>
  `${jobProgressBlobs(jobId)}/state-${stepsDone}`;

/** What training had computed of its tokens by then. */
export const progressRecordBlob = (jobId: string, stepsDone: number): string =>
  `${jobProgressBlobs(jobId)}/record-${stepsDone}`;

export const artifactBlob = (id: string): string => `artifacts/${id}`;

const ROWS = 'rows/';
/** Not a blob: what the rows of a version are called on the account of who pays for them. */
export const artifactRows = (id: string): string => `${ROWS}artifacts/${id}`;
/** As of a version, of a run. */
export const runRows = (id: string): string => `${ROWS}runs/${id}`;
/** Whether an entry of an account is about rows: no blob has its name. */
export const isRows = (blob: string): boolean => blob.startsWith(ROWS);

/** Above all that was logged of a model. */
export const modelLogBlobs = (modelId: string): string => `logs/${modelId}`;
export const logBlob = (modelId: string, id: string): string => `${modelLogBlobs(modelId)}/${id}.jsonl`;

/** Above all that checkpoints of a model answered. */
export const modelEvaluationBlobs = (modelId: string): string => `evaluations/${modelId}`;
/** Above the prompts and answers of one job's evaluation. */
export const evaluationBlobs = (modelId: string, jobId: string): string => `${modelEvaluationBlobs(modelId)}/${jobId}`;
export const evaluationBodyBlob = (modelId: string, jobId: string): string =>
  `${evaluationBlobs(modelId, jobId)}/request.json`;
/** Of the prompt with this index. */
export const answersBlob = (modelId: string, jobId: string, prompt: number): string =>
  `${evaluationBlobs(modelId, jobId)}/answers-${prompt}.json`;

/** Above all that is kept of one response. */
export const responseBlobs = (id: string): string => `responses/${id}`;
/** As this attempt at its answer left it; 0: as it was asked for, or as its only attempt. */
export const responseBlob = (id: string, attempt: number): string => `${responseBlobs(id)}/${attempt}.json`;
/** Above all that Tinker clients have of a run, by the run's model, beside its checkpoints. */
export const tinkerBlobs = (modelId: string): string => `tinker/${modelId}`;
/** What an operation was sent with, until a saved state has it. */
export const tinkerRequestBlob = (modelId: string, seq: number): string => `${tinkerBlobs(modelId)}/request-${seq}`;
export const tinkerResultBlob = (modelId: string, seq: number): string => `${tinkerBlobs(modelId)}/result-${seq}`;
/** A directory; one for each attempt, as of checkpoints. */
export const tinkerStateBlob = (modelId: string, seq: number, attempt: number): string =>
  `${tinkerBlobs(modelId)}/state-${seq}.${attempt}`;
/** A directory: weights for sampling that have no name. */
export const tinkerSamplerBlob = (modelId: string, samplerId: string): string =>
  `${tinkerBlobs(modelId)}/sampler-${samplerId}`;
/** A directory. */
export const tinkerCheckpointBlob = (modelId: string, seq: number, attempt: number): string =>
  `checkpoints/${modelId}/tinker-${seq}.${attempt}`;

/** A directory: an adapter that a client sent, by the id of its upload. */
export const uploadedCheckpointBlob = (modelId: string, id: string): string => `checkpoints/${modelId}/upload-${id}`;

/** Of one repair. What is under it keeps its whole name. */
export const quarantinedBlobs = (time: Date): string => `quarantine/${time.toISOString().replace(/[:.]/g, '-')}`;

/** What a name says its bytes belong to; null: an artifact, a response, or nothing of ours. */
export type BlobOwner =
  | { readonly kind: 'checkpoint'; readonly modelId: string; readonly jobId: string }
  | { readonly kind: 'job'; readonly jobId: string }
  | { readonly kind: 'evaluation'; readonly modelId: string; readonly jobId: string }
  | { readonly kind: 'tinker'; readonly modelId: string }
  | { readonly kind: 'log'; readonly modelId: string };

export function parseBlobOwner(blob: string): BlobOwner | null {
  const [root, first = '', second = ''] = blob.split('/');
  if (root === 'checkpoints') return { kind: 'checkpoint', modelId: first, jobId: second.replace(/\.\d+$/, '') }; // older ones name no attempt
  if (root === 'jobs') return { kind: 'job', jobId: first };
  if (root === 'evaluations') return { kind: 'evaluation', modelId: first, jobId: second };
  if (root === 'tinker') return { kind: 'tinker', modelId: first };
  if (root === 'logs') return { kind: 'log', modelId: first };
  return null;
}

/** The job that a name speaks of; empty if none. */
export function jobOfBlob(blob: string): string {
  const owner = parseBlobOwner(blob);
  return owner && 'jobId' in owner ? owner.jobId : '';
}

/** `checkpoints/model/job.attempt`, `jobs/job/resume`; what is shorter is a file. */
const UNIT_DEPTH = 3;

/** What is stored and deleted as one with this blob, by the form of its name. */
export const blobUnit = (blob: string): string => blob.split('/').slice(0, UNIT_DEPTH).join('/');
