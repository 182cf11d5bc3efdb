// Which adapters are in memory: loads PEFT directories on demand, keeps a bounded number in bounded memory (least recently used
// ones go first, those in use stay), and hands out the fused form for the adapters of a batch. Half of the memory is for adapters
// as they were loaded, half for the sets that batches make of them. One adapter is always let in, whatever it takes.
import { gigabytes } from '#base/gigabytes';
import { AppError } from '#domain/errors';
import { invariant } from '#base/invariant';
import { linearLayers, type LoraAdapter } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import type { DecoderConfig } from '#model-files/decoder-config';
import { HEAD_MODULE } from '#model-files/decoder-parameters';
import type { AdapterRef } from '../../inference-engine.ts';
import { layOutGroups, sizeOfLayout } from './adapter-groups.ts';
import { adapterSetBytes, fuseAdapters, soloAdapter, type FusedAdapters, type SoloAdapter } from './fused-adapters.ts';

/** Sets of several that are kept: batches change their adapters rarely, and go back and forth when they do. */
const FUSED_SETS_MAX = 4;
/** A set with more adapters than a batch needs is used instead of a new one up to this many times the columns. */
const WASTE_MAX = 2;

export interface AdapterLimits {
  readonly maxAdapters: number;
  readonly adapterBytes: number;
}

interface Entry {
  readonly solo: SoloAdapter;
  /** Requests that use it. */
  users: number;
  unloadWhenUnused: boolean;
}

export class AdapterStore {
  readonly #config: DecoderConfig;
  readonly #limits: AdapterLimits;
  /** Least recently used first. A Map, because the adapters in use stay, however long ago they were asked for. */
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Entry>>();
  #lastRead: Promise<unknown> = Promise.resolve();
  /** Sets of several; least recently used first. */
  readonly #fused: FusedAdapters[] = [];
  readonly #none: FusedAdapters;

  constructor(config: DecoderConfig, limits: AdapterLimits) {
    this.#config = config;
    this.#limits = limits;
    this.#none = fuseAdapters(config, []);
  }

  get ids(): readonly string[] {
    return [...this.#entries.keys()];
  }

  async load(ref: AdapterRef): Promise<void> {
    await this.#find(ref, 0);
  }

  /** Keeps the adapter in memory until `release`. */
  async acquire(ref: AdapterRef): Promise<void> {
    await this.#find(ref, 1);
  }

  release(id: string): void {
    const entry = this.#entries.get(id);
    invariant(entry && entry.users > 0, `adapter ${id} is not in use`);
    entry.users--;
    if (entry.users === 0 && entry.unloadWhenUnused) this.#drop(id);
  }

  /** At once, or when the last request that uses it has ended. */
  unload(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    if (entry.users === 0) this.#drop(id);
    else entry.unloadWhenUnused = true;
  }

  /** The graph inputs for a prompt: of this adapter and no other, or its products would depend on how many there are. */
  alone(id: string | null): FusedAdapters {
    return id === null ? this.#none : this.#entries.get(id)!.solo;
  }

  /** The graph inputs for a batch; `ids` are in use. */
  fused(ids: readonly (string | null)[]): FusedAdapters {
    const needed = [...new Set(ids.filter((id) => id !== null))].sort();
    if (needed.length < 2) return this.alone(needed[0] ?? null);
    const solos = needed.map((id) => this.#entries.get(id)!.solo);
    const covering = this.#fused
      .filter((set) => needed.every((id) => set.ids.includes(id)))
      .sort((a, b) => a.size - b.size)[0];
    const size = sizeOfLayout(layOutGroups(solos.map(({ rank }) => rank)));
    const isGood = covering && covering.size <= WASTE_MAX * size;
    return this.#touch(isGood ? covering : fuseAdapters(this.#config, solos));
  }

  #touch(set: FusedAdapters): FusedAdapters {
    const index = this.#fused.indexOf(set);
    if (index >= 0) this.#fused.splice(index, 1);
    this.#fused.push(set);
    const bytesMax = this.#limits.adapterBytes / 2;
    while (this.#fused.length > 1 && (this.#fused.length > FUSED_SETS_MAX || bytesOf(this.#fused) > bytesMax))
      this.#fused.shift();
    return set;
  }

  async #find(ref: AdapterRef, newUsers: number): Promise<void> {
    const entry = this.#entries.get(ref.id) ?? (await this.#loadOnce(ref));
    this.#entries.delete(ref.id);
    this.#entries.set(ref.id, entry); // now the most recently used, and back if it was dropped while we waited
    entry.unloadWhenUnused = false;
    entry.users += newUsers;
  }

  #loadOnce(ref: AdapterRef): Promise<Entry> {
    let loading = this.#loading.get(ref.id);
    if (!loading) {
      // One at a time: of several, all would be in memory before the first is refused.
      loading = this.#lastRead.then(() => this.#read(ref)).finally(() => this.#loading.delete(ref.id));
      this.#lastRead = loading.catch(() => {});
      this.#loading.set(ref.id, loading);
    }
    return loading;
  }

  async #read({ id, directory }: AdapterRef): Promise<Entry> {
    const weights = await readPeftDirectory(directory, linearLayers(this.#config));
    checkFinite(weights, directory);
    this.#makeRoom(adapterSetBytes(this.#config, [weights.rank], weights.targets.includes(HEAD_MODULE)));
    const entry: Entry = { solo: soloAdapter(this.#config, id, weights), users: 0, unloadWhenUnused: false };
    this.#entries.set(id, entry);
    return entry;
  }

  #makeRoom(bytes: number): void {
    const { maxAdapters, adapterBytes } = this.#limits;
    const entries = [...this.#entries.values()];
    const idle = entries.filter(({ users }) => users === 0).map(({ solo }) => solo);
    const kept = entries.map(({ solo }) => solo);
    const isFull = () => kept.length >= maxAdapters || bytesOf(kept) + bytes > adapterBytes / 2;
    const going: SoloAdapter[] = [];
    while (kept.length > 0 && isFull()) {
      const oldest = idle.shift();
      if (!oldest) throw noRoom(kept.length, bytes, this.#limits);
      kept.splice(kept.indexOf(oldest), 1);
      going.push(oldest);
    }
    for (const { id } of going) this.#drop(id);
  }

  #drop(id: string): void {
    this.#entries.delete(id);
    const kept = this.#fused.filter((set) => !set.ids.includes(id));
    this.#fused.splice(0, this.#fused.length, ...kept);
  }
}

const bytesOf = (sets: readonly FusedAdapters[]): number => sets.reduce((sum, { bytes }) => sum + bytes, 0);

function noRoom(inUse: number, bytes: number, { maxAdapters, adapterBytes }: AdapterLimits): AppError {
  const reason =
    inUse >= maxAdapters
      ? `All ${maxAdapters} places for adapters are in use.`
      : `This adapter needs ${gigabytes(2 * bytes, 2)} of memory, and the adapters in use (${inUse}) leave less of the ` +
        `${gigabytes(adapterBytes, 2)} for adapters (WHETSTONE_ADAPTERS_MB).`;
  return new AppError('too_many_requests', `${reason} Try again when requests have finished.`, {
    retryAfterSeconds: 5,
  });
}

/** One value that is not a number would reach every sequence in the batch: 0 · NaN is not 0. */
function checkFinite({ tensors }: LoraAdapter, directory: string): void {
  for (const [name, data] of tensors) {
    if (data.every(Number.isFinite)) continue;
    throw new AppError('bad_model_files', `${directory}: tensor ${name} contains values that are not finite numbers.`);
  }
}
