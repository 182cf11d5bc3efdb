import { stat } from 'node:fs/promises';

/** Links are followed: one whose target is gone is not there. */
export const pathExists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
