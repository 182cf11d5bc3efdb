// The fixed sample of real schemas: which files of a fetched copy of JSONSchemaBench's `data` are used.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import sample from './schema-coverage-sample.json' with { type: 'json' };

export interface Chosen {
  readonly set: string;
  readonly files: readonly string[];
}

/** 50 of each set. Throws if the files differ from the sample. */
export function sampled(directory: string): Chosen[] {
  const chosen = Object.entries(sample.files).map(([set, files]) => ({ set, files }));
  const hash = createHash('sha256');
  for (const { set, files } of chosen) for (const file of files) hash.update(readFileSync(join(directory, set, file)));
  if (hash.digest('hex') === sample.sha256) return chosen;
  throw new Error(`These are not the files of ${sample.repository} at ${sample.commit}.`);
}

/** That many of each set, at equal distances. */
export const everyOther = (directory: string, perSet: number): Chosen[] =>
  readdirSync(directory)
    .sort()
    .map((set) => ({ set, files: evenly(readdirSync(join(directory, set)).sort(), perSet) }));

export function evenly<T>(all: readonly T[], count: number): T[] {
  const every = Math.max(1, Math.floor(all.length / count));
  return all.filter((_, at) => at % every === 0).slice(0, count);
}
