// Loads the answers to the prompts of one evaluation; the list grows as they arrive.
import { useEffect, useState } from 'preact/hooks';
import { listPages } from '../api/pages.ts';
import type { AnsweredPrompt } from './answer-rows.ts';

export interface GrowingAnswers {
  readonly prompts: readonly AnsweredPrompt[];
  readonly isWhole: boolean;
  readonly error: unknown;
}

const NONE: GrowingAnswers = { prompts: [], isWhole: false, error: null };
const NOTHING: GrowingAnswers = { ...NONE, isWhole: true };

/** `version` changes when there is something new: then the shown answers stay until the new ones are loaded. */
export function useAnswers(jobId: string | null, version: string): GrowingAnswers {
  const [read, setRead] = useState<GrowingAnswers & { readonly jobId: string | null }>({ ...NONE, jobId });
  useEffect(() => {
    if (jobId === null) return;
    const stop = new AbortController();
    const show = (next: GrowingAnswers) => void (stop.signal.aborted || setRead({ ...next, jobId }));
    void grow(jobId, read.jobId === jobId && read.isWhole, stop.signal, show);
    return () => stop.abort();
  }, [jobId, version]);
  if (jobId === null) return NOTHING;
  return read.jobId === jobId ? read : NONE;
}

async function grow(
  jobId: string,
  isShown: boolean,
  signal: AbortSignal,
  show: (read: GrowingAnswers) => void,
): Promise<void> {
  const prompts: AnsweredPrompt[] = [];
  const path = { training_job_id: jobId };
  try {
    const url = '/v1/preview/training-jobs/{training_job_id}/evaluation/answers';
    for await (const page of listPages(url, { path, signal })) {
      prompts.push(...page);
      if (!isShown) show({ prompts: [...prompts], isWhole: false, error: null });
    }
    show({ prompts, isWhole: true, error: null });
  } catch (error) {
    show({ prompts, isWhole: true, error });
  }
}
