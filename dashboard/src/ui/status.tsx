// The status of a job: a word and a mark, which are clear without their colour.
import type { Job } from '../api/wire.ts';

const MARKS: Readonly<Record<Job['status'], string>> = {
  queued: '○',
  running: '◐',
  succeeded: '●',
  failed: '✕',
  cancelled: '–',
};

export const Status = ({ of }: { of: Job['status'] }) => (
  <span class={`status ${of}`}>
    <span aria-hidden="true">{MARKS[of]}</span> {of}
  </span>
);

/** 0 to 1. */
export const Progress = ({ value, label }: { value: number; label: string }) => (
  <progress max={1} value={value} aria-label={label} />
);
