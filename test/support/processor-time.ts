// Vitest runs this beside each test file that has a process to itself at that time: leaves the processor time of the file, with that of the
// processes that it started and waited for, to scripts/processor-time-reporter.ts.
import { isMainThread } from 'node:worker_threads';
import { afterAll } from 'vitest';
import { childrenProcessorMs, processorMs } from '../../scripts/processor-ms.ts';

declare module 'vitest' {
  interface TaskMeta {
    processorSeconds?: number;
  }
}

if (isMainThread) {
  const usedMs = () => processorMs() + childrenProcessorMs();
  const beforeMs = usedMs();
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the names of fixtures from the first parameter
  afterAll(({}, { file }) => {
    file.meta.processorSeconds = (usedMs() - beforeMs) / 1_000;
  });
}
