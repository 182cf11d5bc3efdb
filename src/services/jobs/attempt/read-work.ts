// Reads a job's data, whatever its kind, for as long as the job is wanted: reading may take many minutes, and a cancellation or a server
// shutdown must not wait for it.
import { readDpoWork } from './dpo-work.ts';
import type { JobType } from '#domain/training-job';
import type { JobWork, WorkContext } from './job-work.ts';
import { readRlWork } from './rl-work.ts';
import { readSftWork } from './sft-work.ts';

const LOOK_MS = 1_000;

const READERS = { rl: readRlWork, sft: readSftWork, dpo: readDpoWork } satisfies Readonly<Record<JobType, unknown>>;

/** Null: `goesOn` returned false, or the signal aborted. */
export async function readWork(
  context: WorkContext,
  goesOn: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<JobWork | null> {
  const unwanted = new AbortController();
  const look = setInterval(() => {
    goesOn().then(
      (wanted) => wanted || unwanted.abort(),
      () => {}, // a storage that fails now is asked again later
    );
  }, LOOK_MS);
  const ended = AbortSignal.any([signal, unwanted.signal]);
  try {
    return await READERS[context.job.type](context, ended);
  } catch (error) {
    if (ended.aborted) return null;
    throw error;
  } finally {
    clearInterval(look);
  }
}
