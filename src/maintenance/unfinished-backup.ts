// Where a backup is written until it is complete: next to its final directory.
import { resolve } from 'node:path';

export const unfinishedBackup = (directory: string): string => `${resolve(directory)}.unfinished`;
