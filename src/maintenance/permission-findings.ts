// Finds what other users of the machine could read in a data directory.
import { exposedPaths } from '#base/private-directory';
import type { Finding } from './finding.ts';

/** At most one finding: a directory that other users may enter exposes all its files. */
export async function permissionFindings(directory: string): Promise<Finding[]> {
  const open = await exposedPaths(directory);
  if (open.length === 0) return [];
  const which = open.length === 1 ? open[0]! : `${open[0]!} and ${open.length - 1} more`;
  return [
    {
      kind: 'open_permissions',
      where: directory,
      problem: `other users of this machine may read or write ${which}`,
      remedy: 'make directories 0700 and files 0600',
      repair: { do: 'make_private', directory },
    },
  ];
}
