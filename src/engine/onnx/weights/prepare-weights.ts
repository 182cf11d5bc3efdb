// Prepares the files of a model's weights before its engines open them, so that the engines' processes only map them. Files of
// different layouts are prepared concurrently: while one is written to disk, the numbers of the other are rounded.
import type { Log } from '#base/log';
import { isKeptInFile, layoutKey, openWeights, type WeightsOptions } from './weights.ts';
import type { WeightSpec } from './weight-layout.ts';

type Layout = readonly WeightSpec[];

/** Null: no engine reads it. */
export interface ReadLayouts {
  readonly served: Layout | null;
  readonly trained: Layout | null;
}

/**
 * Each promise resolves when its file exists; equal layouts share one file. If one fails, the other is aborted with the same error.
 * Throws the codes of `openWeights`.
 */
export function prepareSideBySide(
  { served, trained }: ReadLayouts,
  { onBytes = () => {}, log, ...options }: Omit<WeightsOptions, 'layout' | 'signal'> & { readonly log: Log },
): Readonly<Record<keyof ReadLayouts, Promise<void>>> {
  const failed = new AbortController();
  const made = new Map<string, { done: number; of: number }>();
  async function prepare(layout: Layout): Promise<void> {
    if (!isKeptInFile(layout, options.inMemoryBytesMax)) return;
    const key = layoutKey(layout);
    const startMs = performance.now();
    const watched = (done: number, of: number): void => {
      made.set(key, { done, of });
      const files = [...made.values()];
      onBytes(
        files.reduce((sum, file) => sum + file.done, 0),
        files.reduce((sum, file) => sum + file.of, 0),
      );
    };
    try {
      await openWeights({ ...options, layout, onBytes: watched, signal: failed.signal });
    } catch (error) {
      failed.abort(error);
      throw error;
    }
    const sizeBytes = made.get(key)?.of;
    if (sizeBytes !== undefined) log.info('weights.made', { sizeBytes, ms: Math.round(performance.now() - startMs) });
  }
  const first = served ? prepare(served) : Promise.resolve();
  if (!trained) return { served: first, trained: Promise.resolve() };
  const isShared = served !== null && layoutKey(served) === layoutKey(trained);
  return { served: first, trained: isShared ? first : prepare(trained) };
}
