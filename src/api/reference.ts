// The API for people, at /docs: search, examples, and requests sent from the page. The page is Scalar's, a single script that
// `npm run build` puts into dist/reference; what it shows is openapi.json. Decides what that script may do, and what of it is
// switched off: everything that would ask another host. Knows no routes.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWebFile, type WebFile } from './web-file.ts';

export interface Reference {
  /** Of the script, under /docs. It has the version in it. */
  readonly scriptName: string;
  readonly script: WebFile;
}

/** Null: it was not built. */
export async function openReference(directory: string): Promise<Reference | null> {
  const manifest = await readFile(join(directory, 'package.json'), 'utf8').catch(() => null);
  if (manifest === null) return null;
  const { version } = JSON.parse(manifest) as { version: string };
  return { scriptName: `scalar-${version}.js`, script: await readWebFile(join(directory, SCRIPT)) };
}

const SCRIPT = 'dist/browser/standalone.js';

/** Of Scalar: https://scalar.com/products/api-references/configuration. The proxy, fonts, numbers of use and the assistant are its maker's. */
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

/** URLs are relative: under any prefix they lie beside the page. */
export const referencePage = ({ scriptName }: Reference): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Whetstone API</title></head><body><div id="reference"></div><script src="docs/${scriptName}"></script><script>${START}</script></body></html>\n`;

/**
 * Scripts are the two above, and calls go to this server alone. Styles may stand in the page, which Scalar writes there; a style cannot
 * read the key, and has nowhere to send it.
 */
export const REFERENCE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'self'; script-src 'self' 'sha256-${START_HASH}'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};
