// The API reference at /docs: search, examples, and requests sent from the page. The page is Scalar, a single script that
// `npm run build` puts into dist/reference; it displays openapi.json. Decides what the script may do, and which of its features are
// off: all those that would contact another host. Knows no routes.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWebFile, type WebFile } from '../http/web-file.ts';

export interface Reference {
  /** Name of the script under /docs. It contains the version. */
  readonly scriptName: string;
  readonly script: WebFile;
}

/** Null: not built. */
export async function openReference(directory: string): Promise<Reference | null> {
  const manifest = await readFile(join(directory, 'package.json'), 'utf8').catch(() => null);
  if (manifest === null) return null;
  const { version } = JSON.parse(manifest) as { version: string };
  return { scriptName: `scalar-${version}.js`, script: await readWebFile(join(directory, SCRIPT)) };
}

const SCRIPT = 'dist/browser/standalone.js';

/** Configuration of Scalar: https://scalar.com/products/api-references/configuration. Its proxy, fonts, telemetry and assistant are services of its vendor. */
const SETTINGS = {
  url: 'openapi.json',
  authentication: { preferredSecurityScheme: 'apiKey' },
  proxyUrl: '',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'direct',
  hideModels: true,
  persistAuth: false,
};

const START = `Scalar.createApiReference('#reference', ${JSON.stringify(SETTINGS)});`;
const START_HASH = createHash('sha256').update(START).digest('base64');

/** URLs are relative, so that they work under any prefix. */
export const referencePage = ({ scriptName }: Reference): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Whetstone API</title></head><body><div id="reference"></div><script src="docs/${scriptName}"></script><script>${START}</script></body></html>\n`;

/**
 * Scripts are only the two above, and requests go only to this server. Inline styles are allowed because Scalar writes them; a style
 * cannot read the key, and has nowhere to send it.
 */
export const REFERENCE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'self'; script-src 'self' 'sha256-${START_HASH}'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};
