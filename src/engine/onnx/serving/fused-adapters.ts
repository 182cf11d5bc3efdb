// Combines several adapters into one set of graph inputs, in groups (models/grouped-adapters.ts; adapter-groups.ts decides the
// groups). Lays out their weights; knows no requests and no files.
import { loraAName, loraBName, loraScale, type LoraAdapter } from '#model-files/lora';
import type { DecoderConfig } from '#model-files/decoder-config';
import { HEAD_MODULE, layerLinears, layerPrefix } from '#model-files/decoder-parameters';
import type { Feed } from '../graph/session.ts';
import { columnsOf, layOutGroups, sizeOfLayout, slotFeeds, type GroupLayout, type Ranked } from './adapter-groups.ts';

export interface FusedAdapters {
  readonly ids: readonly string[];
  /** Columns of all groups: proportional to the set's memory and the time to apply it. */
  readonly size: number;
  readonly bytes: number;
  /** `lora.L.F.a` and `.b`, and the head's. */
  readonly weightFeeds: Readonly<Record<string, Feed>>;
  /** The other inputs for sequences that use these adapters (null: none). */
  readonly slotFeeds: (adapterIds: readonly (string | null)[]) => Record<string, Feed>;
}

/** A set of one: the form in which an adapter is kept, and from which larger sets are made. */
export interface SoloAdapter extends FusedAdapters, Ranked {}

/** Bytes of a set of adapters of these ranks; `onHead`: at least one of them adapts the output head. */
export function adapterSetBytes(config: DecoderConfig, ranks: readonly number[], onHead = false): number {
  const layout = layOutGroups(ranks);
  let floats = onHead ? layout.groups * columnsOf(layout, 1) * (config.hidden + config.vocab) : 0;
  for (let layer = 0; layer < config.layers; layer++) {
    for (const linear of layerLinears(config, layer)) {
      const parts = config.linears[linear];
      const outFeatures = parts.reduce((sum, part) => sum + part.outFeatures, 0);
      floats += layout.groups * columnsOf(layout, parts.length) * (parts[0]!.inFeatures + outFeatures);
    }
  }
  return 4 * floats;
}

export function soloAdapter(config: DecoderConfig, id: string, adapter: LoraAdapter): SoloAdapter {
  const { rank, tensors, targets } = adapter;
  const ranked = { id, rank, onHead: targets.includes(HEAD_MODULE) };
  const set = fuse(config, [ranked], ({ parts, columns, inFeatures, outFeatures, a, b }) => {
    let column = 0;
    let firstOut = 0;
    for (const { path, outFeatures: ownOut } of parts) {
      placeA(a, columns, column, tensors.get(loraAName(path)), rank, inFeatures);
      placeB(b, outFeatures, column, firstOut, tensors.get(loraBName(path)), adapter, ownOut);
      column += rank;
      firstOut += ownOut;
    }
  });
  return { ...set, ...ranked };
}

export function fuseAdapters(config: DecoderConfig, adapters: readonly SoloAdapter[]): FusedAdapters {
  return fuse(config, adapters, ({ name, parts, layout, columns, inFeatures, outFeatures, a, b }) => {
    adapters.forEach(({ rank, onHead, weightFeeds }, i) => {
      if (name === HEAD_SITE && !onHead) return;
      const own = { a: weightFeeds[`${name}.a`]!, b: weightFeeds[`${name}.b`]! };
      const used = rank * parts.length;
      const ownColumns = own.a.dims.at(-1)!;
      const { group, start } = layout.places[i]!;
      const first = start * parts.length;
      for (let row = 0; row < inFeatures; row++) {
        const to = (group * inFeatures + row) * columns + first;
        for (let c = 0; c < used; c++) a[to + c] = own.a.data[row * ownColumns + c] as number;
      }
      b.set((own.b.data as Float32Array).subarray(0, used * outFeatures), (group * columns + first) * outFeatures);
    });
  });
}

/** A linear with fused projections, of one layer or the head. */
interface Linear {
  /** `lora.L.F` */
  readonly name: string;
  readonly parts: readonly { readonly path: string; readonly outFeatures: number }[];
  readonly inFeatures: number;
}

/** The arrays to fill for one linear. */
interface Site extends Linear {
  readonly layout: GroupLayout;
  /** Columns of a group. */
  readonly columns: number;
  /** Σ out of all projections. */
  readonly outFeatures: number;
  /** `[groups, in, columns]` */
  readonly a: Float32Array;
  /** `[groups, columns, Σ out]` */
  readonly b: Float32Array;
}

const HEAD_SITE = 'lora.head';
const NOTHING: GroupLayout = { groups: 1, width: 0, places: [] };

function fuse(config: DecoderConfig, adapters: readonly Ranked[], fill: (site: Site) => void): FusedAdapters {
  const ranks = adapters.map(({ rank }) => rank);
  const layout = layOutGroups(ranks);
  const isOnHead = adapters.some(({ onHead }) => onHead);
  const weightFeeds: Record<string, Feed> = {};
  const place = ({ name, parts, inFeatures }: Linear, layout: GroupLayout): Site => {
    const { groups } = layout;
    const columns = columnsOf(layout, parts.length);
    const outFeatures = parts.reduce((sum, part) => sum + part.outFeatures, 0);
    const a = new Float32Array(groups * inFeatures * columns);
    const b = new Float32Array(groups * columns * outFeatures);
    weightFeeds[`${name}.a`] = { data: a, dims: [1, groups, 1, inFeatures, columns] };
    weightFeeds[`${name}.b`] = { data: b, dims: [1, 1, groups, 1, columns, outFeatures] };
    return { name, parts, inFeatures, layout, columns, outFeatures, a, b };
  };
  for (const linear of linearsOf(config)) fill(place(linear, layout));
  const { hidden, vocab } = config;
  const head = { name: HEAD_SITE, parts: [{ path: HEAD_MODULE, outFeatures: vocab }], inFeatures: hidden };
  if (isOnHead) fill(place(head, layout));
  else place(head, NOTHING);
  return {
    ids: adapters.map(({ id }) => id),
    size: sizeOfLayout(layout),
    bytes: adapterSetBytes(config, ranks, isOnHead),
    weightFeeds,
    slotFeeds: (adapterIds) => slotFeeds(layout, adapters, adapterIds),
  };
}

const linearsOf = (config: DecoderConfig): Linear[] =>
  Array.from({ length: config.layers }, (_, layer) =>
    layerLinears(config, layer).map((linear) => {
      const parts = config.linears[linear];
      return {
        name: `lora.${layer}.${linear}`,
        parts: parts.map(({ module, outFeatures }) => ({ path: `${layerPrefix(layer)}.${module}`, outFeatures })),
        inFeatures: parts[0]!.inFeatures,
      };
    }),
  ).flat();

/** Writes loraA `[rank, in]` into columns of a `[in, columns]`. */
function placeA(
  a: Float32Array,
  columns: number,
  column: number,
  loraA: Float32Array | undefined,
  rank: number,
  inFeatures: number,
): void {
  if (!loraA) return; // this adapter does not target the module
  for (let r = 0; r < rank; r++) {
    for (let i = 0; i < inFeatures; i++) a[i * columns + column + r] = loraA[r * inFeatures + i]!;
  }
}

/** Writes loraB `[out, rank]`, scaled, into rows of b `[columns, Σ out]`. */
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
