// Tests of a contract that need what not every engine does. They are skipped only where the engine does not declare it, and say so:
// in their names, and in one line at the end of the suite.
import { afterAll, test } from 'vitest';

export type Needing = (capability: string, isDeclared: boolean) => typeof test;

/** Called inside the suite. */
export function createNeeding(engine: string): Needing {
  const missing = new Set<string>();
  afterAll(() => {
    if (missing.size > 0)
      console.log(`${engine} does not declare ${[...missing].join(', ')}: tests of that were skipped.`);
  });
  return (capability, isDeclared) => {
    if (isDeclared) return test;
    missing.add(capability);
    const named = (name: string) => `${name} (skipped: ${capability} is not declared)`;
    const skipped = (name: string) => test.skip(named(name));
    const each = (cases: readonly unknown[]) => (name: string) => test.skip.each([...cases])(named(name), () => {});
    return Object.assign(skipped, { each }) as unknown as typeof test;
  };
}
