// An operation on a storage with arbitrary arguments, as a property test draws and shows it.
import fc from 'fast-check';
import type { TestedStorage } from './plain-storage/tested-storage.ts';

/** `nowMs` and `sequence` are the same for every storage; `sequence` is new with each operation. */
export interface Moment {
  readonly nowMs: number;
  readonly sequence: number;
}

export interface Operation {
  readonly name: string;
  run(storage: TestedStorage, moment: Moment): Promise<unknown>;
  /** As shown in failures. */
  [fc.toStringMethod](): string;
}

export const asked = <T>(
  name: string,
  weight: number,
  args: fc.Arbitrary<T>,
  run: (storage: TestedStorage, args: T, moment: Moment) => Promise<unknown>,
): fc.WeightedArbitrary<Operation> => ({
  weight,
  arbitrary: args.map((given) => ({
    name,
    run: (storage, moment) => run(storage, given, moment),
    [fc.toStringMethod]: () => `${name} ${JSON.stringify(given)}`,
  })),
});
