// Two plain pages, without scripts or anything from elsewhere: the API for people, and where to begin when the dashboard is not built.
import { createHash } from 'node:crypto';
import type { OpenApiDocument, Operation } from './openapi.ts';

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
  code, pre { font: 14px/1.45 ui-monospace, monospace; }
  pre { padding: .8rem 1rem; overflow-x: auto; background: color-mix(in srgb, currentColor 8%, transparent); border-radius: .4rem; }
  details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .5rem 0; }
  summary { cursor: pointer; }
  .method { display: inline-block; width: 4.5rem; font-weight: 600; }
  .muted { opacity: .7; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Of both pages: nothing but their own style is loaded or run, no other page shows them in a frame. */
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
<p>Chat with a model, train it by reinforcement learning or on examples, chat with what came out. Version ${escape(version)}.</p>
<p>The dashboard is not built: <code>npm run build</code> makes it, and it stands here when the server starts again.</p>
<p>Base models here:</p><ul>${models}</ul>
<pre>curl $URL/v1/chat/completions -H "Authorization: Bearer $WHETSTONE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"messages":[{"role":"user","content":"Hello"}]}'</pre>
<p><a href="docs">API</a> · <a href="openapi.json">OpenAPI</a> · <a href="v1/health">health</a> · <a href="v1/system-check">system check</a> · <a href="metrics">metrics</a></p>`,
  );
}

export function docsPage({ info, paths }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const sections = tags.map((tag) => {
    const rows = operations
      .filter(({ operation }) => operation.tags.includes(tag))
      .map(({ path, method, operation }) => describe(path, method, operation));
    return `<h2>${escape(tag)}</h2>${rows.join('')}`;
  });
  return html(
    'Whetstone API',
    `<h1>${escape(info.title)} API</h1><p>${escape(info.description)}</p>
<p class="muted">Version ${escape(info.version)}. Send <code>Authorization: Bearer …</code> where no “public” is written; what follows a path is the scope that the key needs. <a href="openapi.json">openapi.json</a></p>
${sections.join('')}`,
  );
}

/** `public`, the scope that a key needs, or nothing: any key. */
function accessOf({ security }: Operation): string {
  const [scheme] = security as readonly { apiKey: readonly string[] }[];
  return scheme ? escape(scheme.apiKey.join(' ')) : 'public';
}

function describe(path: string, method: string, operation: Operation): string {
  const parameters = operation.parameters.map(
    ({ name, in: place, required, description }) =>
      `<li><code>${escape(name)}</code> <span class="muted">${place}${required ? ', required' : ''}</span> ${prose(description ?? '')}</li>`,
  );
  const body = operation.requestBody as { content?: Record<string, { schema?: unknown }> } | undefined;
  const bodies = Object.entries(body?.content ?? {}).map(
    ([type, { schema }]) => `<p>Body <code>${escape(type)}</code></p>${json(schema)}`,
  );
  const answer = operation.responses['200'] as { content?: Record<string, { schema?: unknown }> } | undefined;
  const answers = Object.entries(answer?.content ?? {}).map(
    ([type, { schema }]) => `<p>200 <code>${escape(type)}</code></p>${schema ? json(schema) : ''}`,
  );
  const failures = Object.keys(operation.responses).filter((status) => status !== '200');
  return `<details><summary><span class="method">${method.toUpperCase()}</span> <code>${escape(path)}</code> <span class="muted">${accessOf(operation)}</span><br>${prose(operation.summary)}</summary>
${parameters.length > 0 ? `<ul>${parameters.join('')}</ul>` : ''}
${bodies.join('')}
${answers.join('')}<p class="muted">Failures: ${failures.join(', ')}</p></details>`;
}

/** `code` in backticks, as the descriptions have it. */
const prose = (text: string): string => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const json = (value: unknown): string => `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`;

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
