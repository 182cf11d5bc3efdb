// Contract tests that need an optional capability. They are skipped only if the engine does not declare it, and are listed at the
// end of the run.
import { test } from 'vitest';
import { skipUnless } from '../skipping.ts';

export type Needing = (capability: string, isDeclared: boolean) => typeof test;

export function createNeeding(engine: string): Needing {
  return (capability, isDeclared) => {
    if (isDeclared) return test;
    const options = skipUnless(false, `${engine} does not declare ${capability}`);
    const skipped = (name: string) => test(name, options, () => {});
    const each = (cases: readonly unknown[]) => (name: string) => test.each([...cases])(name, options, () => {});
    return Object.assign(skipped, { each }) as unknown as typeof test;
  };
}
