// Prometheus metrics: vLLM's metrics have vLLM's names, the others start with whetstone_. Labels are routes, methods, statuses,
// operations, base models and worker names; never entities, keys or client text, because /metrics is public.
// docs/observability.md documents them; deploy/grafana/whetstone.json displays them.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { EPISODE_STATUSES, type EpisodeStatus } from '#domain/episode';
import type { WorkerTally } from '#domain/worker';
import type { BaseModel } from '#services/models/base-models';
import { createChatMetrics, type ChatMetrics } from './metrics-chat.ts';
import { createJobMetrics, type JobMetrics, type JobMetricsSources } from './metrics-jobs.ts';
import { createStorageMetrics, type StorageMetrics } from './metrics-storage.ts';
import { createWorkerMetrics } from './metrics-workers.ts';

export interface Metrics {
  /** Returns a function to call when the connection is done with the request, answered or not. */
  requestArrived(): () => void;
  requestFinished(request: { method: string; route: string; status: number; seconds: number }): void;
  /** A request of the weave library that was accepted and dropped. */
  tracesDropped(sizeBytes: number): void;
  readonly chat: ChatMetrics;
  readonly jobs: JobMetrics;
  readonly storage: StorageMetrics;
  readonly contentType: string;
  text(): Promise<string>;
}

/** Called only when /metrics is read. */
export interface MetricsSources extends JobMetricsSources {
  /** Of all servers that share the storage. */
  readonly episodes: () => Promise<Readonly<Record<EpisodeStatus, number>>>;
  readonly baseModels: () => readonly BaseModel[];
  readonly workers: () => readonly WorkerTally[];
}

export function createMetrics({ baseModels, workers, episodes, ...jobs }: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'whetstone_' });
  const requests = new Histogram({
    name: 'whetstone_http_request_seconds',
    help: 'Time from the request line to the last byte of the answer, in seconds.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
    registers,
  });
  const inFlight = new Gauge({
    name: 'whetstone_http_requests_in_flight',
    help: 'Requests that have not been answered completely.',
    registers,
  });
  const tracesDropped = new Counter({
    name: 'whetstone_weave_requests_dropped_total',
    help: 'Requests with traces of the weave library that were accepted and dropped.',
    registers,
  });
  const traceBytesDropped = new Counter({
    name: 'whetstone_weave_bytes_dropped_total',
    help: 'Size of the requests with traces that were accepted and dropped, in bytes.',
    registers,
  });
  for (const [name, help, value] of ENGINE_GAUGES) {
    new Gauge({
      name,
      help,
      labelNames: ['model_name'],
      registers,
      collect() {
        for (const { id, inference } of baseModels()) this.set({ model_name: id }, value(inference.status()));
      },
    });
  }
  new Gauge({
    name: 'whetstone_episodes',
    help: 'Episodes of all entities.',
    labelNames: ['status'],
    registers,
    async collect() {
      // Unknown while the database fails; the other metrics are still needed then.
      const counts = await episodes().catch(() => null);
      for (const status of EPISODE_STATUSES) this.set({ status }, counts?.[status] ?? NaN);
    },
  });
  createWorkerMetrics(registry, workers);
  let text: Promise<string> | null = null;
  return {
    requestArrived() {
      inFlight.inc();
      return () => inFlight.dec();
    },
    requestFinished: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    tracesDropped(sizeBytes) {
      tracesDropped.inc();
      traceBytesDropped.inc(sizeBytes);
    },
    chat: createChatMetrics(registry, () => baseModels().map(({ id }) => id)),
    jobs: createJobMetrics(registry, jobs),
    storage: createStorageMetrics(registry),
    contentType: registry.contentType,
    /** Who asks while it is made gets the same: making it takes milliseconds of the main thread. */
    text: () => (text ??= registry.metrics().finally(() => (text = null))),
  };
}

type Status = ReturnType<BaseModel['inference']['status']>;

const ENGINE_GAUGES: readonly [name: string, help: string, value: (status: Status) => number][] = [
  ['vllm:num_requests_running', 'Sequences in the batch of the inference engine.', ({ running }) => running],
  ['vllm:num_requests_waiting', 'Sequences that wait for a place in the batch.', ({ waiting }) => waiting],
  [
    'whetstone_adapters_loaded',
    'Checkpoints in the memory of the inference engine.',
    ({ adapters }) => adapters.length,
  ],
  [
    'whetstone_engine_restarts',
    'Number of times that the process of the inference engine was replaced.',
    ({ restarts }) => restarts,
  ],
];
