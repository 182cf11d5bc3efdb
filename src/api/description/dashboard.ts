// The files of the dashboard, as `npm run build` creates them: one page, and assets whose names contain a content hash. Together
// they are smaller than a megabyte. Knows no routes.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readWebFile, type WebFile } from '../http/web-file.ts';

export interface Dashboard {
  readonly page: WebFile;
  /** By name, under /assets. */
  readonly assets: ReadonlyMap<string, WebFile>;
}

/**
 * Content security policy of the page: scripts, styles and requests only from this server, nothing inline, no text is interpreted
 * as markup, and no other page can show it in a frame.
 */
export const DASHBOARD_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** Null: not built. */
export async function openDashboard(directory: string): Promise<Dashboard | null> {
  const names = await readdir(join(directory, 'assets')).catch(() => null);
  if (names === null) return null;
  const assets = names.map(async (name) => [name, await readWebFile(join(directory, 'assets', name))] as const);
  return { page: await readWebFile(join(directory, 'index.html')), assets: new Map(await Promise.all(assets)) };
}
