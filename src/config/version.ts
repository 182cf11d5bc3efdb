// The package's own version and the Node that it needs, from the package.json beside src and dist.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
  engines: { node: string };
};

export const VERSION = manifest.version;

/** `20.19`: the oldest version of Node that runs it. */
export const NODE_MIN = manifest.engines.node.replace(/^>=/, '');
