// Metrics of workers, by the name that the operator gave each. vLLM's metrics have vLLM's names with the prefix whetstone_worker_: with the
// same names, sums over a model would count twice. Labels are bounded at the source (engine/workers/worker-tallies.ts).
import { Counter, Gauge, type Registry } from 'prom-client';
import type { WorkerTally } from '#domain/worker';

export function createWorkerMetrics(registry: Registry, tallies: () => readonly WorkerTally[]): void {
  for (const [name, help, value] of GAUGES) {
    new Gauge({
      ...{ name, help, labelNames: ['model_name', 'worker'], registers: [registry] },
      collect() {
        this.reset(); // workers that no longer exist
        for (const tally of tallies()) this.set({ model_name: tally.model, worker: tally.name }, value(tally));
      },
    });
  }
  for (const [name, help, value] of COUNTERS) {
    new Counter({
      ...{ name, help, labelNames: ['model_name', 'worker'], registers: [registry] },
      collect() {
        this.reset();
        for (const tally of tallies()) this.inc({ model_name: tally.model, worker: tally.name }, value(tally));
      },
    });
  }
}

type Metric = readonly [name: string, help: string, value: (tally: WorkerTally) => number];

const GAUGES: readonly Metric[] = [
  ['whetstone_worker_count', 'Workers of this name that are connected or expected to reconnect.', ({ count }) => count],
  [
    'whetstone_worker_num_requests_running',
    'Choices that the worker is computing, as it reports.',
    ({ running }) => running,
  ],
  [
    'whetstone_worker_num_requests_waiting',
    'Choices that are waiting on the worker, as it reports.',
    ({ waiting }) => waiting,
  ],
  ['whetstone_worker_training_sessions', 'Training sessions that are open on the worker.', ({ sessions }) => sessions],
  ['whetstone_worker_adapters_loaded', 'Checkpoints in the memory of the worker.', ({ adapters }) => adapters],
  [
    'whetstone_worker_silent_seconds',
    'Time since the last message from the worker, in seconds.',
    ({ silentMs }) => silentMs / 1000,
  ],
];

const COUNTERS: readonly Metric[] = [
  ['whetstone_worker_calls_total', 'Sampling requests that were sent to the worker.', ({ calls }) => calls],
  [
    'whetstone_worker_wait_seconds_total',
    'Total time that sampling requests waited for a worker, in seconds.',
    ({ waitedMs }) => waitedMs / 1000,
  ],
  [
    'whetstone_worker_message_bytes_total',
    'Messages to and from the worker, in bytes; files of adapters are not included.',
    ({ messageBytes }) => messageBytes,
  ],
  ['whetstone_worker_generation_tokens_total', 'Tokens that the worker sampled, in tokens.', ({ tokens }) => tokens],
  [
    'whetstone_worker_reconnects_total',
    'Connections that the worker lost and replaced.',
    ({ reconnects }) => reconnects,
  ],
];
