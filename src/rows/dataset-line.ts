// Rows of training data of either kind: conversations and preference pairs.
import type { PreferencePair } from '#domain/dpo';
import type { SftRow } from '#domain/sft';
import { readPreferencePair } from './dpo.ts';
import { isPreferenceLine, readSftLine } from './sft.ts';

export const readDatasetLine = (
  line: string,
): { readonly row: SftRow | PreferencePair } | { readonly problem: string } =>
  isPreferenceLine(line) ? readPreferencePair(line) : readSftLine(line);
