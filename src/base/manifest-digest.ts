// The digest of an artifact in the `wandb` library: an MD5 of its paths and their files' MD5s and nothing else.
import { createHash } from 'node:crypto';

const PREFIX = 'wandb-artifact-manifest-v1\n';

export const base64OfHex = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

/** In hex; `md5s` by path, in hex. */
export function manifestDigest(md5s: ReadonlyMap<string, string>): string {
  const hash = createHash('md5').update(PREFIX);
  for (const path of [...md5s.keys()].sort()) hash.update(`${path}:${base64OfHex(md5s.get(path)!)}\n`);
  return hash.digest('hex');
}
