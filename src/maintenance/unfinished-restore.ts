// A restore that was interrupted has copied only some blobs, and no rows: a server would start on them as if the store were new. Its
// working copy of the rows, which a complete restore deletes, says so.
import { pathExists } from '#base/path-exists';
import { AppError } from '#domain/errors';
import { restoringPath } from '#data-directory';

/** Throws `invalid_request`. Call while the data directory is locked: a running restore has the same file. */
export async function refuseUnfinishedRestore(dataDirectory: string): Promise<void> {
  if (!(await pathExists(restoringPath(dataDirectory)))) return;
  throw new AppError(
    'invalid_request',
    `A restore into ${dataDirectory} was interrupted, so only a part of the backup may be there. Run the same \`whetstone restore\` again, or use another --data directory.`,
  );
}
