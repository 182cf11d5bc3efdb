// The data and losses of fixtures/tinker (python/golden/make_tinker.py), as a client of the Tinker protocol sends them, and
// PyTorch's results. Knows no engine.
import type { TinkerDatum } from '#services/tinker/protobuf/forward-backward';
import type { WireTensor } from '#services/tinker/protobuf/tensors';
import { readFixture } from './fixture.ts';

type Numbers = readonly number[] | readonly (readonly number[])[];

/** Data by a name, and the loss they are trained with. */
export interface Part {
  readonly data: string;
  readonly loss: string;
  readonly config: Readonly<Record<string, number>>;
  /** The inputs of this loss other than the targets. */
  readonly inputs: readonly string[];
}

export type Sketches = Readonly<Record<string, readonly number[]>>;

interface GoldenLosses {
  readonly tolerance: number;
  readonly data: Readonly<
    Record<string, readonly ({ readonly tokens: readonly number[] } & Record<string, Numbers>)[]>
  >;
  readonly cases: readonly (Part & {
    readonly value: number;
    /** `[datum][places · K]` */
    readonly logprobs: readonly (readonly number[])[];
    readonly gradients: Sketches;
  })[];
  /** For all its parts together. */
  readonly sum: { readonly parts: readonly Part[]; readonly value: number; readonly gradients: Sketches };
}

export const golden = readFixture<GoldenLosses>('tinker/expected.json');

function tensorOf(numbers: Numbers, type: typeof Float32Array | typeof Int32Array): WireTensor {
  const [first] = numbers;
  const shape = typeof first === 'object' ? [numbers.length, first.length] : [numbers.length];
  return { values: type.from(numbers.flat()), shape };
}

export function dataOf({ data, inputs }: Part): TinkerDatum[] {
  return golden.data[data]!.map((datum) => ({
    tokens: Int32Array.from(datum.tokens),
    inputs: new Map([
      ['target_tokens', tensorOf(datum['target_tokens']!, Int32Array)],
      ...inputs.map((name) => [name, tensorOf(datum[name]!, Float32Array)] as const),
    ]),
  }));
}
