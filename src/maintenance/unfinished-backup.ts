// Where a backup grows until it is whole: beside the directory that it becomes.
import { resolve } from 'node:path';

export const unfinishedBackup = (directory: string): string => `${resolve(directory)}.unfinished`;
