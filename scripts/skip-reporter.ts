// A reporter of vitest: every test that did not run, by the reason that it carries (test/support/skipping.ts, or the note of `skip(note)`).
// Without one, the run fails in CI. Where all of a suite was skipped, one line names the suite. It stands before vitest's own summary.
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

export interface Skipped {
  /** Null: none is given. */
  readonly reason: string | null;
  readonly file: string;
  /** Of the test, or of the suite that was skipped as a whole; empty: of the whole file. */
  readonly name: string;
  readonly tests: number;
}

/** Without what did not run because a hook failed: that is reported as a failure. */
export function skippedIn(module: TestModule, root: string): Skipped[] {
  const file = relative(root, module.moduleId);
  const visit = (parent: TestModule | TestSuite): Skipped[] => {
    if (parent.errors().length > 0) return [];
    const found = [...parent.children].flatMap((child) => (child.type === 'test' ? ofTest(child) : visit(child)));
    const [first] = found;
    const tests = found.reduce((sum, skipped) => sum + skipped.tests, 0);
    const isWhole = tests === [...parent.children.allTests()].length;
    if (!first || !isWhole || found.some(({ reason }) => reason !== first.reason)) return found;
    return tests === 1 ? found : [{ ...first, name: parent.type === 'suite' ? parent.fullName : '', tests }];
  };
  const ofTest = (test: TestCase): Skipped[] => {
    const result = test.result();
    if (result.state !== 'skipped') return [];
    return [{ reason: test.meta().skipReason ?? result.note ?? null, file, name: test.fullName, tests: 1 }];
  };
  return visit(module);
}

export function describeSkipped(all: readonly Skipped[]): string[] {
  const count = (some: readonly Skipped[]) => some.reduce((sum, { tests }) => sum + tests, 0);
  const reasons = [...new Set(all.map(({ reason }) => reason))].sort();
  const byReason = reasons.map((reason) => [reason, all.filter((each) => each.reason === reason)] as const);
  const lines = byReason.flatMap(([reason, some]) => [
    `  ${reason ?? 'No reason is given'}: ${count(some)}`,
    ...some.map(({ file, name, tests }) => `    ${file}${name && ` > ${name}`}${tests > 1 ? ` (${tests})` : ''}`),
  ]);
  return [`Skipped tests, by reason: ${count(all)}`, ...lines];
}

export default class SkipReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const { config, logger } = this.#vitest!;
    // Who names tests (-t) is not told of all the others.
    const isKnown = ({ reason }: Skipped) => reason !== null || !config.testNamePattern;
    const all = modules.flatMap((module) => skippedIn(module, config.root)).filter(isKnown);
    if (all.length === 0) return;
    logger.log(`\n${describeSkipped(all).join('\n')}`);
    if (!process.env['CI'] || all.every(({ reason }) => reason !== null)) return;
    logger.error('In CI every skipped test needs a reason: test/support/skipping.ts has the ways to give one.');
    process.exitCode = 1;
  }
}
