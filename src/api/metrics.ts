// Numbers for Prometheus. Labels are routes, methods, statuses and base models: never entities or keys, because /metrics
// is public.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BaseModels } from '#services/base-models';

export interface Metrics {
  requestFinished(request: { method: string; route: string; status: number; seconds: number }): void;
  chatFinished(chat: { baseModel: string; promptTokens: number; completionTokens: number }): void;
  firstToken(baseModel: string, seconds: number): void;
  readonly contentType: string;
  text(): Promise<string>;
}

export function createMetrics(baseModels: BaseModels, countQueuedJobs: () => Promise<number>): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'whetstone_' });
  const requests = new Histogram({
    name: 'whetstone_http_request_seconds',
    help: 'Time from the request line to the last byte of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
    registers,
  });
  const tokens = new Counter({
    name: 'whetstone_tokens_total',
    help: 'Tokens of chat requests: prompts read and completions sampled.',
    labelNames: ['base_model', 'kind'],
    registers,
  });
  const firstToken = new Histogram({
    name: 'whetstone_time_to_first_token_seconds',
    help: 'From the arrival of a chat request to its first token.',
    labelNames: ['base_model'],
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60],
    registers,
  });
  for (const [name, help, value] of ENGINE_GAUGES) {
    new Gauge({
      name,
      help,
      labelNames: ['base_model'],
      registers,
      collect() {
        for (const { id, inference } of baseModels.list()) this.set({ base_model: id }, value(inference.status()));
      },
    });
  }
  new Gauge({
    name: 'whetstone_training_jobs_queued',
    help: 'Training jobs that wait for their turn.',
    registers,
    async collect() {
      this.set(await countQueuedJobs());
    },
  });
  return {
    requestFinished: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    chatFinished({ baseModel, promptTokens, completionTokens }) {
      tokens.inc({ base_model: baseModel, kind: 'prompt' }, promptTokens);
      tokens.inc({ base_model: baseModel, kind: 'completion' }, completionTokens);
    },
    firstToken: (baseModel, seconds) => firstToken.observe({ base_model: baseModel }, seconds),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

type Status = ReturnType<ReturnType<BaseModels['list']>[number]['inference']['status']>;

const ENGINE_GAUGES: readonly [name: string, help: string, value: (status: Status) => number][] = [
  ['whetstone_sequences_running', 'Sequences in the batch of the inference engine.', ({ running }) => running],
  ['whetstone_sequences_waiting', 'Sequences that wait for a place in the batch.', ({ waiting }) => waiting],
  [
    'whetstone_adapters_loaded',
    'Checkpoints in the memory of the inference engine.',
    ({ adapters }) => adapters.length,
  ],
  ['whetstone_engine_restarts', 'Times the process of the inference engine was replaced.', ({ restarts }) => restarts],
];
