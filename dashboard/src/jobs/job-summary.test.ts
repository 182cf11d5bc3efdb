import { expect, test } from 'vitest';
import type { JobDetail } from '../api/wire.ts';
import { JobSummary } from './job-summary.tsx';

/** All texts of an element that is not drawn yet. */
function textsOf(node: unknown): string[] {
  if (typeof node === 'string') return [node];
  if (Array.isArray(node)) return node.flatMap(textsOf);
  if (typeof node !== 'object' || node === null || !('props' in node)) return [];
  return textsOf((node.props as { readonly children?: unknown }).children);
}

const job = {
  status: 'queued',
  created_at: '2026-01-01T00:00:00Z',
  progress: 0,
  skipped: {},
  training_end: null,
  error_message: null,
  warnings: [],
} as unknown as JobDetail;

test('the page of a job that waits says behind what', () => {
  const message = 'It waits for its turn behind the training job 7.';
  const waits: JobDetail = { ...job, waiting_for: { type: 'job', id: '7', message } };
  expect(textsOf(JobSummary({ job: waits, events: [] }))).toContain(message);
  expect(textsOf(JobSummary({ job: { ...job, waiting_for: null }, events: [] }))).not.toContain(message);
});
