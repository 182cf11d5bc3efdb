// Metrics and spans of training jobs, as reported by the job runner. Labels are job types and base models; job ids appear only in
// traces, which go to the operator.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Span, Tracing } from '#base/tracing';
import { JOB_TYPES } from '#domain/training-job';
import type { JobObserver } from '#services/jobs/attempt/job-attempt';

/** Steps take milliseconds for tiny models, and minutes for large ones with long rollouts. */
const STEP_SECONDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000];

export interface JobMetricsSources {
  /** For all servers that share the storage. */
  readonly queuedJobs: () => Promise<number>;
  readonly queuedJobsMax: number;
}

type Measured = Readonly<Record<string, number | undefined>>;

/** The metrics of gradient steps and checkpoints that are exported. Other names are chosen by clients. */
const OF_STEPS = ['loss', 'entropy', 'grad_norm', 'kl_div', 'kl_policy_ref'] as const;
const OF_CHECKPOINTS = ['train/reward', 'train/rewards/accuracies', 'val/loss', 'val/rewards/accuracies'] as const;

export interface JobMetrics {
  running(change: 1 | -1): void;
  stepped(step: { type: string; baseModel: string; seconds: number; metrics: Measured }): void;
  measured(job: { type: string; baseModel: string; metrics: Measured; skipped: Measured }): void;
  ended(job: { type: string; status: string }): void;
}

const END_STATUSES = ['succeeded', 'failed', 'cancelled'] as const;

export function createJobMetrics(registry: Registry, { queuedJobs, queuedJobsMax }: JobMetricsSources): JobMetrics {
  const registers = [registry];
  let running = 0;
  new Gauge({
    name: 'whetstone_training_jobs',
    help: 'Training jobs that are waiting (queued), and those that this server runs (running).',
    labelNames: ['status'],
    registers,
    async collect() {
      this.set({ status: 'running' }, running);
      // Unknown while the database fails; the other metrics are still needed then.
      this.set({ status: 'queued' }, await queuedJobs().catch(() => NaN));
    },
  });
  new Gauge({
    name: 'whetstone_queue_limit',
    help: 'Maximum length of a queue, in jobs; further jobs are refused with 429.',
    labelNames: ['queue'],
    registers,
  }).set({ queue: 'training_jobs' }, queuedJobsMax);
  const steps = new Counter({
    name: 'whetstone_training_gradient_steps_total',
    help: 'Gradient steps of training jobs.',
    labelNames: ['type', 'model_name'],
    registers,
  });
  const seconds = new Histogram({
    name: 'whetstone_training_step_seconds',
    help: 'Duration of a gradient step, in seconds.',
    labelNames: ['type', 'model_name'],
    buckets: STEP_SECONDS,
    registers,
  });
  const latest = new Gauge({
    name: 'whetstone_training_latest',
    help: 'The latest training metrics on this server, from any job: those of a gradient step, and those of a checkpoint.',
    labelNames: ['quantity', 'type', 'model_name'],
    registers,
  });
  const skipped = new Counter({
    name: 'whetstone_training_skipped_total',
    help: 'Trajectories, or rows of SFT and DPO jobs, that were not trained on, by reason.',
    labelNames: ['reason', 'type', 'model_name'],
    registers,
  });
  const show = (names: readonly string[], metrics: Measured, labels: { type: string; model_name: string }) => {
    for (const quantity of names)
      if (metrics[quantity] !== undefined) latest.set({ quantity, ...labels }, metrics[quantity]);
  };
  const ended = new Counter({
    name: 'whetstone_training_jobs_ended_total',
    help: 'Training jobs that ended on this server, by how they ended.',
    labelNames: ['status', 'type'],
    registers,
  });
  for (const type of JOB_TYPES) for (const status of END_STATUSES) ended.inc({ status, type }, 0);
  return {
    running: (change) => void (running += change),
    stepped(step) {
      const labels = { type: step.type, model_name: step.baseModel };
      steps.inc(labels);
      seconds.observe(labels, step.seconds);
      show(OF_STEPS, step.metrics, labels);
    },
    measured({ type, baseModel, metrics, skipped: reasons }) {
      const labels = { type, model_name: baseModel };
      show(OF_CHECKPOINTS, metrics, labels);
      // Reasons are a fixed set of our own.
      for (const [reason, count = 0] of Object.entries(reasons)) skipped.inc({ reason, ...labels }, count);
    },
    ended: (job) => ended.inc(job),
  };
}

/** One span per attempt, from its claim to its end, with one child span per gradient step. */
export function observeJobs(metrics: JobMetrics, tracing: Tracing): JobObserver {
  const attempts = new Map<string, Span>();
  return {
    began({ id, type, attempt }) {
      metrics.running(1);
      const about = { 'whetstone.job.id': id, 'whetstone.job.type': type, 'whetstone.job.attempt': attempt };
      attempts.set(id, tracing.work(`training_job ${type}`, id, about));
    },
    stepped({ id, type }, { baseModel, step, of, metrics: measured, startMs, endMs }) {
      metrics.stepped({ type, baseModel, seconds: (endMs - startMs) / 1000, metrics: measured });
      const about = { 'whetstone.step': step, 'whetstone.steps': of, 'whetstone.loss': measured['loss'] };
      attempts.get(id)?.set({ 'gen_ai.request.model': baseModel });
      attempts.get(id)?.child('gradient_step', about, startMs).end(endMs);
    },
    measured: ({ type }, measured) => metrics.measured({ type, ...measured }),
    ended({ id, type }, outcome, error) {
      if (outcome !== 'lost' && outcome !== 'stopped') metrics.ended({ type, status: outcome });
      const span = attempts.get(id);
      if (!span) return; // cancelled before any worker claimed it
      attempts.delete(id);
      metrics.running(-1);
      span.set({ 'whetstone.job.outcome': outcome });
      if (outcome === 'failed') span.fail(error);
      span.end();
    },
  };
}
