// Rows of training data of either kind: conversations and preference pairs.
import type { PreferencePair } from '#domain/dpo';
import type { ReadLine, SftRow } from '#domain/sft';
import { readPair } from './dpo.ts';
import { readLine } from './read-line.ts';
import { isPreference, readSftRow } from './sft.ts';

export const readDatasetLine = (line: string): ReadLine<SftRow | PreferencePair> =>
  readLine<SftRow | PreferencePair>(line, (value) => (isPreference(value) ? readPair(value) : readSftRow(value)));
