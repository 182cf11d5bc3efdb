import { stat } from 'node:fs/promises';

/** Follows links: false for a link whose target is missing. */
export const pathExists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
