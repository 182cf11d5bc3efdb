// Duration and failures of storage operations on rows and blobs. Knows no operation by name: each asynchronous method of a store is
// measured under its own name, so the number of labels is bounded by the interfaces.
import { Counter, Histogram, type Registry } from 'prom-client';
import { aroundMethods } from '#base/around-methods';
import { AppError } from '#domain/errors';

export interface StorageMetrics {
  operation(name: string, seconds: number, outcome: 'done' | 'fault'): void;
}

/** From a row in a cache to the upload of a large adapter to another region. */
const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60];

export function createStorageMetrics(registry: Registry): StorageMetrics {
  const registers = [registry];
  const labelNames = ['operation'] as const;
  const seconds = new Histogram({
    name: 'whetstone_storage_operation_seconds',
    help: 'Duration of an operation on rows or blobs, in seconds; for streams, until they are open.',
    labelNames,
    buckets: SECONDS,
    registers,
  });
  const faults = new Counter({
    name: 'whetstone_storage_faults_total',
    help: 'Operations of the database, the disk or the blob store that failed.',
    labelNames,
    registers,
  });
  return {
    operation(operation, duration, outcome) {
      seconds.observe({ operation }, duration);
      faults.inc({ operation }, outcome === 'fault' ? 1 : 0);
    },
  };
}

/** Returns the same store with timed promises: `jobs.claim` is the method `claim` of its store `jobs`. */
export const measureStorage = <T extends object>(store: T, metrics: StorageMetrics, prefix = ''): T =>
  aroundMethods(store, (name, call) => timed(name, call, metrics), prefix);

function timed(name: string, call: () => unknown, metrics: StorageMetrics): unknown {
  const startMs = performance.now();
  const done = (outcome: 'done' | 'fault') => metrics.operation(name, (performance.now() - startMs) / 1000, outcome);
  const result = call();
  if (!(result instanceof Promise)) return result;
  return result.then(
    (value: unknown) => {
      done('done');
      return value;
    },
    (error: unknown) => {
      done(isFault(error) ? 'fault' : 'done');
      throw error;
    },
  );
}

/** Other AppErrors are expected results of an operation. */
const isFault = (error: unknown): boolean => !(error instanceof AppError) || error.code === 'storage_unavailable';
