// Several adapters as one set of graph inputs: their columns lie side by side (models/serving-graph.ts), and a mask leaves
// each sequence only its own. Decides where columns lie; knows no requests and no files.
//
// An adapter's result must not depend on its neighbours, to the bit. Zeros elsewhere in a sum change nothing, but a sum
// that is cut in another place does, so no adapter straddles a boundary at which the matmul kernels cut (ALIGNMENT for
// unrolled loops, BLOCK for cache blocking).
import { loraAName, loraBName, loraScale, type LoraAdapter } from '#model-files/lora';
import { FUSED_LINEARS, type Projection } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { layerPrefix } from '#model-files/decoder-parameters';
import type { Feed } from '../graph/session.ts';

const ALIGNMENT = 8;
const BLOCK = 128;
/** How many projections a fused linear may have: qkv 3, gate_up 2, o and down 1. */
const PROJECTION_COUNTS = [1, 2, 3] as const;
type ProjectionCount = (typeof PROJECTION_COUNTS)[number];

interface ColumnLayout {
  /** First column of each adapter, in the order given. */
  readonly starts: readonly number[];
  /** All columns, at least 1: a column of zeros stands for no adapter. */
  readonly total: number;
}

export interface FusedAdapters {
  readonly ids: readonly string[];
  /** Total columns for three projections: what a batch pays. */
  readonly width: number;
  /** `lora.L.F.a` and `.b`. */
  readonly weightFeeds: Readonly<Record<string, Feed>>;
  /** `lora_mask.P` for sequences that use these adapters (null: none). */
  readonly maskFeeds: (adapterIds: readonly (string | null)[]) => Record<string, Feed>;
}

/** A set of one: how an adapter is kept, and what sets of several are made of. */
export interface SoloAdapter extends FusedAdapters {
  readonly id: string;
  readonly rank: number;
}

export function soloAdapter(config: DecoderConfig, id: string, adapter: LoraAdapter): SoloAdapter {
  const { rank, tensors } = adapter;
  const set = fuse(config, [{ id, rank }], ({ layer, parts, columns, inFeatures, outFeatures, a, b }) => {
    let column = 0;
    let firstOut = 0;
    for (const { module, outFeatures: ownOut } of parts) {
      const path = `${layerPrefix(layer)}.${module}`;
      placeA(a, columns.total, column, tensors.get(loraAName(path)), rank, inFeatures);
      placeB(b, outFeatures, column, firstOut, tensors.get(loraBName(path)), adapter, ownOut);
      column += rank;
      firstOut += ownOut;
    }
  });
  return { ...set, id, rank };
}

export function fuseAdapters(config: DecoderConfig, adapters: readonly SoloAdapter[]): FusedAdapters {
  return fuse(config, adapters, ({ name, parts, columns, inFeatures, outFeatures, a, b }) => {
    adapters.forEach(({ rank, weightFeeds }, i) => {
      const own = { a: weightFeeds[`${name}.a`]!, b: weightFeeds[`${name}.b`]! };
      const width = rank * parts.length;
      const ownColumns = own.a.dims[3]!;
      const start = columns.starts[i]!;
      for (let row = 0; row < inFeatures; row++) {
        for (let c = 0; c < width; c++) a[row * columns.total + start + c] = own.a.data[row * ownColumns + c] as number;
      }
      b.set((own.b.data as Float32Array).subarray(0, width * outFeatures), start * outFeatures);
    });
  });
}

/** A fused linear of one layer, and the arrays to fill for it. */
interface Site {
  /** `lora.L.F` */
  readonly name: string;
  readonly layer: number;
  readonly parts: readonly Projection[];
  readonly columns: ColumnLayout;
  readonly inFeatures: number;
  /** Of all projections. */
  readonly outFeatures: number;
  /** `[in, columns]` */
  readonly a: Float32Array;
  /** `[columns, Σ out]` */
  readonly b: Float32Array;
}

type Ranked = Pick<SoloAdapter, 'id' | 'rank'>;

function fuse(config: DecoderConfig, adapters: readonly Ranked[], fill: (site: Site) => void): FusedAdapters {
  const layouts = {
    1: layOut(adapters, 1),
    2: layOut(adapters, 2),
    3: layOut(adapters, 3),
  } satisfies Record<ProjectionCount, ColumnLayout>;
  const weightFeeds: Record<string, Feed> = {};
  for (let layer = 0; layer < config.layers; layer++) {
    for (const linear of FUSED_LINEARS) {
      const parts = config.linears[linear];
      const columns = layouts[parts.length as ProjectionCount];
      const inFeatures = parts[0]!.inFeatures;
      const outFeatures = parts.reduce((sum, part) => sum + part.outFeatures, 0);
      const a = new Float32Array(inFeatures * columns.total);
      const b = new Float32Array(columns.total * outFeatures);
      const name = `lora.${layer}.${linear}`;
      fill({ name, layer, parts, columns, inFeatures, outFeatures, a, b });
      weightFeeds[`${name}.a`] = { data: a, dims: [1, 1, inFeatures, columns.total] };
      weightFeeds[`${name}.b`] = { data: b, dims: [1, 1, 1, columns.total, outFeatures] };
    }
  }
  const ids = adapters.map(({ id }) => id);
  const maskFeeds = (adapterIds: readonly (string | null)[]) =>
    Object.fromEntries(
      PROJECTION_COUNTS.map((count) => {
        const widths = adapters.map(({ rank }) => rank * count);
        return [`lora_mask.${count}`, createMask(layouts[count], ids, widths, adapterIds)];
      }),
    );
  return { ids, width: layouts[3].total, weightFeeds, maskFeeds };
}

function layOut(adapters: readonly Ranked[], projectionCount: number): ColumnLayout {
  const starts: number[] = [];
  let end = 0;
  for (const { rank } of adapters) {
    const width = rank * projectionCount;
    let start = roundUp(end, ALIGNMENT);
    if (roundUp(start + 1, BLOCK) < start + width) start = roundUp(start, BLOCK);
    starts.push(start);
    end = start + width;
  }
  return { starts, total: Math.max(1, roundUp(end, ALIGNMENT)) };
}

const roundUp = (x: number, multiple: number): number => Math.ceil(x / multiple) * multiple;

/** loraA `[rank, in]` into columns of a `[in, columns]`. */
function placeA(
  a: Float32Array,
  columns: number,
  column: number,
  loraA: Float32Array | undefined,
  rank: number,
  inFeatures: number,
): void {
  if (!loraA) return; // not a target of this adapter
  for (let r = 0; r < rank; r++) {
    for (let i = 0; i < inFeatures; i++) a[i * columns + column + r] = loraA[r * inFeatures + i]!;
  }
}

/** loraB `[out, rank]`, scaled, into rows of b `[columns, Σ out]`. */
function placeB(
  b: Float32Array,
  outFeatures: number,
  column: number,
  firstOut: number,
  loraB: Float32Array | undefined,
  adapter: LoraAdapter,
  ownOut: number,
): void {
  if (!loraB) return;
  const { rank } = adapter;
  const scale = loraScale(adapter);
  for (let r = 0; r < rank; r++) {
    const row = (column + r) * outFeatures + firstOut;
    for (let o = 0; o < ownOut; o++) b[row + o] = loraB[o * rank + r]! * scale;
  }
}

/** `[sequences, 1, columns]`: 1 in the columns of the sequence's adapter. */
function createMask(
  layout: ColumnLayout,
  ids: readonly string[],
  widths: readonly number[],
  adapterIds: readonly (string | null)[],
): Feed {
  const data = new Float32Array(adapterIds.length * layout.total);
  adapterIds.forEach((id, sequence) => {
    if (id === null) return;
    const i = ids.indexOf(id);
    const first = sequence * layout.total + layout.starts[i]!;
    data.fill(1, first, first + widths[i]!);
  });
  return { data, dims: [adapterIds.length, 1, layout.total] };
}
