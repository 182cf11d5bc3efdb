// The files of the dashboard, as `npm run build` leaves them: one page, and assets whose names change with their content. Read once,
// held in memory, gzipped too: together they have less than a megabyte. Knows no routes.
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface Dashboard {
  readonly page: DashboardFile;
  /** By their names under /assets. */
  readonly assets: ReadonlyMap<string, DashboardFile>;
}

export interface DashboardFile {
  readonly type: string;
  readonly content: Buffer;
  readonly gzipped: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Of the page: scripts, styles and calls are this server's own, nothing inline, no text becomes markup, and no other page shows it
 * in a frame.
 */
export const DASHBOARD_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** Names change with content. */
export const ASSET_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'public, max-age=31536000, immutable',
};

/** Null: it was not built. */
export async function openDashboard(directory: string): Promise<Dashboard | null> {
  const names = await readdir(join(directory, 'assets')).catch(() => null);
  if (names === null) return null;
  const assets = names.map(async (name) => [name, await read(join(directory, 'assets', name))] as const);
  return { page: await read(join(directory, 'index.html')), assets: new Map(await Promise.all(assets)) };
}

async function read(path: string): Promise<DashboardFile> {
  const content = await readFile(path);
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  return { type, content, gzipped: await promisify(gzip)(content, { level: 9 }) };
}
