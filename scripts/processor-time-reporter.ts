// A reporter of vitest: the processor time of the test files, and those with most of it. The clock says little where files run side by
// side and wait for each other. Files of projects whose files share threads (test/projects.ts) are not counted.
import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const SHOWN = 10;

export default class ProcessorTimeReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const { config, logger } = this.#vitest!;
    const used = modules.flatMap((module) => {
      const { processorSeconds: seconds } = module.meta();
      return seconds === undefined ? [] : [{ file: relative(config.root, module.moduleId), seconds }];
    });
    if (used.length < 2) return;
    const total = used.reduce((sum, { seconds }) => sum + seconds, 0);
    const most = used.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
    const lines = most.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
    logger.log(`\nProcessor time of ${used.length} files: ${total.toFixed(0)} s. The most:\n${lines.join('\n')}`);
  }
}
