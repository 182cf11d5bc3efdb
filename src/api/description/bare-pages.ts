// Two plain pages, without scripts or external resources: shown at `/` and `/docs` if the server was not built (`npm run build`).
import { createHash } from 'node:crypto';

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
  code, pre { font: 14px/1.45 ui-monospace, monospace; }
  pre { padding: .8rem 1rem; overflow-x: auto; background: color-mix(in srgb, currentColor 8%, transparent); border-radius: .4rem; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** For both pages: only their own style is loaded, nothing is executed, and no other page can show them in a frame. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

export function landingPage(version: string, baseModels: readonly string[]): string {
  const models = baseModels.map((id) => `<li><code>${escape(id)}</code></li>`).join('');
  return html(
    'Whetstone',
    `<h1>Whetstone</h1>
<p>Chat with a model, train it by reinforcement learning or on examples, chat with the result. Version ${escape(version)}.</p>
<p>The dashboard is not built: <code>npm run build</code> makes it, then restart the server.</p>
<p>Base models here:</p><ul>${models}</ul>
<pre>curl $URL/v1/chat/completions -H "Authorization: Bearer $WHETSTONE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"messages":[{"role":"user","content":"Hello"}]}'</pre>
<p><a href="docs">API</a> · <a href="openapi.json">OpenAPI</a> · <a href="v1/health">health</a> · <a href="v1/system-check">system check</a> · <a href="metrics">metrics</a></p>`,
  );
}

export const barePage = (version: string): string =>
  html(
    'Whetstone API',
    `<h1>The API of Whetstone ${escape(version)}</h1>
<p>The page with search and requests to try is not built: <code>npm run build</code> makes it, then restart the server.</p>
<p>Everything it shows is in <a href="openapi.json">openapi.json</a>.</p>`,
  );

const html = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${STYLE}</style></head><body>${body}</body></html>`;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
