// Where a model's trajectories are, step by step: those that each job trained on, and those that were logged under a split. The page's
// address decides which of them are shown.
import { readHistory } from '../api/history.ts';
import { listAll } from '../api/pages.ts';
import type { Item } from '../api/client.ts';
import type { HistoryStep } from '../api/wire.ts';
import { hrefTo } from '../router.ts';

export type Log = Item<'/v1/preview/models/{model_id}/logs'>;

/** Name of the trained-on trajectories. A client's split of this name is shown under it too. */
export const TRAINED = 'trained';

export interface Source {
  readonly kind: 'job' | 'log';
  /** Id of the job or the log. */
  readonly id: string;
  readonly split: string;
  /** For a job: the checkpoint that it made from these. For a log: the latest checkpoint when they were logged. */
  readonly step: number;
  readonly hrefOf: (group: number, trajectory?: number) => string;
}

/** Oldest first. */
export async function readSources(modelId: string, signal: AbortSignal): Promise<Source[]> {
  const sources: Source[] = [];
  const path = { model_id: modelId };
  for (const step of await readHistory(modelId, signal)) {
    const source = ofJob(step);
    if (source) sources.push(source);
  }
  for await (const log of listAll('/v1/preview/models/{model_id}/logs', { path, signal }))
    sources.push(ofLog(modelId, log));
  return sources;
}

/** Null: there is no job, it has not begun, or it has no groups. */
function ofJob({ job_id: id, type, step }: HistoryStep): Source | null {
  if (id === null || type !== 'rl' || step === null) return null;
  const hrefOf = (group: number, trajectory?: number) =>
    hrefTo('/jobs/{id}/groups/{group}', { id, group, ...(trajectory === undefined ? {} : { trajectory }) });
  return { kind: 'job', id, split: TRAINED, step, hrefOf };
}

function ofLog(modelId: string, { id, split, step }: Log): Source {
  const hrefOf = (group: number, trajectory?: number) =>
    hrefTo('/models/{model}/logs/{id}/groups/{group}', {
      ...{ model: modelId, id, group },
      ...(trajectory === undefined ? {} : { trajectory }),
    });
  return { kind: 'log', id, split, step, hrefOf };
}

export const splitsOf = (sources: readonly Source[]): string[] => [...new Set(sources.map(({ split }) => split))];

/** Steps at which the split has trajectories, in ascending order. */
export const stepsOf = (sources: readonly Source[], split: string): number[] =>
  [...new Set(sources.filter((source) => source.split === split).map(({ step }) => step))].sort((a, b) => a - b);

export const sourcesAt = (sources: readonly Source[], split: string, step: number): Source[] =>
  sources.filter((source) => source.split === split && source.step === step);
