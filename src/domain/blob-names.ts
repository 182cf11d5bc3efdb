// The layout of the blob store: every blob name is built here, and parsed here. storage/blob-name.ts decides which names are safe as
// paths.

/** First segments of all names except those in quarantine. */
export const BLOB_ROOTS = ['checkpoints', 'jobs', 'artifacts', 'logs', 'evaluations', 'responses', 'tinker'] as const;

/** A directory per attempt, so that a worker whose lease has lapsed never writes into the directory of the job's next attempt. */
export const jobCheckpointBlob = (modelId: string, jobId: string, attempt: number): string =>
  `checkpoints/${modelId}/${jobId}.${attempt}`;
/** The directory of step 0, which no job makes: a copy of another model's checkpoint, or a fresh adapter. */
export const stepZeroBlob = (modelId: string, from: 'fork' | 'fresh'): string =>
  `checkpoints/${modelId}/${from === 'fork' ? 'fork' : '0'}`;

export const jobBodyBlob = (jobId: string): string => `jobs/${jobId}/body.jsonl`;
export const jobPreparationBlob = (jobId: string): string => `jobs/${jobId}/prepared.json`;
/** Log-probabilities and advantages that training computed for each token (services/jobs/data/token-record.ts). */
export const jobRecordBlob = (jobId: string): string => `jobs/${jobId}/record.bin`;
/** Prefix of a job's saved progress. */
export const jobProgressBlobs = (jobId: string): string => `jobs/${jobId}/resume`;
/** Points to the current state. */
export const progressPointerBlob = (jobId: string): string => `${jobProgressBlobs(jobId)}/current.json`;
/** A directory. */
export const progressStateBlob = (jobId: string, stepsDone: number): string =>
  `${jobProgressBlobs(jobId)}/state-${stepsDone}`;

/** The token record as it was when the state was saved. */
export const progressRecordBlob = (jobId: string, stepsDone: number): string =>
  `${jobProgressBlobs(jobId)}/record-${stepsDone}`;

export const artifactBlob = (id: string): string => `artifacts/${id}`;

const ROWS = 'rows/';
/** Not a blob: the name under which a version's database rows count towards an entity's storage. */
export const artifactRows = (id: string): string => `${ROWS}artifacts/${id}`;
/** The same for a run's rows. */
export const runRows = (id: string): string => `${ROWS}runs/${id}`;
/** The same for an episode and its calls. */
export const episodeRows = (id: string): string => `${ROWS}episodes/${id}`;
export const isEpisodeRows = (blob: string): boolean => blob.startsWith(episodeRows(''));
/** Whether an accounted name stands for database rows instead of a blob. */
export const isRows = (blob: string): boolean => blob.startsWith(ROWS);

/** Prefix of everything logged for a model. */
export const modelLogBlobs = (modelId: string): string => `logs/${modelId}`;
export const logBlob = (modelId: string, id: string): string => `${modelLogBlobs(modelId)}/${id}.jsonl`;

/** Prefix of the answers of a model's checkpoints in evaluations. */
export const modelEvaluationBlobs = (modelId: string): string => `evaluations/${modelId}`;
/** Prefix of the prompts and answers of one job's evaluation. */
export const evaluationBlobs = (modelId: string, jobId: string): string => `${modelEvaluationBlobs(modelId)}/${jobId}`;
export const evaluationBodyBlob = (modelId: string, jobId: string): string =>
  `${evaluationBlobs(modelId, jobId)}/request.json`;
/** The answers to the prompt with this index. */
export const answersBlob = (modelId: string, jobId: string, prompt: number): string =>
  `${evaluationBlobs(modelId, jobId)}/answers-${prompt}.json`;

/** Prefix of everything kept for one response. */
export const responseBlobs = (id: string): string => `responses/${id}`;
/** The state after this attempt to answer; 0: the request as it arrived, or the only attempt. */
export const responseBlob = (id: string, attempt: number): string => `${responseBlobs(id)}/${attempt}.json`;
/** Prefix of everything that Tinker clients store for a run, apart from its checkpoints. Named after the run's model. */
export const tinkerBlobs = (modelId: string): string => `tinker/${modelId}`;
/** The body of an operation, kept until a saved state includes it. */
export const tinkerRequestBlob = (modelId: string, seq: number): string => `${tinkerBlobs(modelId)}/request-${seq}`;
export const tinkerResultBlob = (modelId: string, seq: number): string => `${tinkerBlobs(modelId)}/result-${seq}`;
/** A directory per attempt, as for checkpoints. */
export const tinkerStateBlob = (modelId: string, seq: number, attempt: number): string =>
  `${tinkerBlobs(modelId)}/state-${seq}.${attempt}`;
/** A directory with unnamed weights for sampling. */
export const tinkerSamplerBlob = (modelId: string, samplerId: string): string =>
  `${tinkerBlobs(modelId)}/sampler-${samplerId}`;
/** A directory. */
export const tinkerCheckpointBlob = (modelId: string, seq: number, attempt: number): string =>
  `checkpoints/${modelId}/tinker-${seq}.${attempt}`;

/** A directory with an adapter that a client uploaded, named after the upload. */
export const uploadedCheckpointBlob = (modelId: string, id: string): string => `checkpoints/${modelId}/upload-${id}`;

/** Quarantine of one repair. Blobs in it keep their whole name. */
export const quarantinedBlobs = (time: Date): string => `quarantine/${time.toISOString().replace(/[:.]/g, '-')}`;

/** What the bytes under a name belong to; null: an artifact, a response, or an unknown name. */
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

/** The job in a blob's name; empty if it names none. */
export function jobOfBlob(blob: string): string {
  const owner = parseBlobOwner(blob);
  return owner && 'jobId' in owner ? owner.jobId : '';
}

/** Directories are `checkpoints/model/job.attempt` and `jobs/job/resume`; shorter names are files. */
const UNIT_DEPTH = 3;

/** The unit in which this blob is stored and deleted, judged by its name. */
export const blobUnit = (blob: string): string => blob.split('/').slice(0, UNIT_DEPTH).join('/');
