// One step of a model: an adapter that can be served, listed and trained further. Step 0 is made at registration.
import { AppError } from './errors.ts';

export interface Checkpoint {
  readonly id: string; // uuid
  readonly modelId: string;
  readonly step: number;
  /** `train/reward`, `val/accuracy`, … */
  readonly metrics: Readonly<Record<string, number>>;
  /** Blob prefix that holds adapter_config.json, adapter_model.safetensors and, to resume, optimizer.safetensors. */
  readonly blobPrefix: string;
  /** The adapter changes nothing: the base model answers for it. */
  readonly fresh: boolean;
  readonly createdAtMs: number;
}

type Metrics = Checkpoint['metrics'];

/** A checkpoint's metrics are in its row and in each list that has it: a page of a hundred is 50 MB at most. */
export const METRIC_NAMES_MAX = 10_000;
const METRICS_CHARACTERS_MAX = 500_000;

/** A later value of the same metric wins. Throws `invalid_request` if that is more than a checkpoint may have, however many requests logged it. */
export function mergedMetrics(known: Metrics, logged: Metrics): Metrics {
  const merged = { ...known, ...logged };
  const names = Object.keys(merged).length;
  if (names > METRIC_NAMES_MAX) throw tooMany(`more than ${METRIC_NAMES_MAX} metrics (${names})`);
  const characters = JSON.stringify(merged).length;
  if (characters > METRICS_CHARACTERS_MAX)
    throw tooMany(`metrics of ${characters} characters, more than ${METRICS_CHARACTERS_MAX}`);
  return merged;
}

const tooMany = (what: string): AppError =>
  new AppError(
    'invalid_request',
    `The checkpoint would have ${what}. Log the same names again, which replaces their values, or log to another step.`,
    { param: 'trajectory_groups' },
  );
