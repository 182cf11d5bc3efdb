// A Hub in this process: the endpoints that a download uses, with ranges, tokens, revisions, and connections that break. Nothing
// leaves the machine.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const COMMIT = 'c'.repeat(40);
export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Read for every request: a test changes it as it goes. */
export interface Hub {
  files: Record<string, Buffer>;
  /** Sent instead of the listed content: a broken connection or disk on the other side. */
  sent: Record<string, Buffer>;
  /** What the listing says instead of the truth, by file. */
  lies: Record<string, object>;
  /** By file: an answer stops after so many bytes, once for each number, until `breakLines`. After 0 it breaks at once. */
  breaks: Record<string, number[]>;
  /** The last byte of a file that was sent. */
  heldAt: number | null;
  breakLines: () => void;
  knowsRanges: boolean;
  commit: string;
  revisions: string[];
  requiredToken: string | null;
  /** Statuses and error codes of the Hub, by path: `resolve`, `revision`. */
  refusals: Partial<Record<'resolve' | 'revision', { status: number; code: string }>>;
  requests: string[];
  /** `range` headers of files. */
  ranges: string[];
}

export interface OpenHub {
  readonly url: string;
  readonly hub: Hub;
  readonly close: () => Promise<void>;
}

export async function openHub(files: Record<string, Buffer>): Promise<OpenHub> {
  const hub: Hub = {
    files,
    sent: {},
    lies: {},
    breaks: {},
    heldAt: null,
    breakLines: () => undefined,
    knowsRanges: true,
    commit: COMMIT,
    revisions: ['main'],
    requiredToken: null,
    refusals: {},
    requests: [],
    ranges: [],
  };
  const server = createServer((request, response) => answer(hub, request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hub,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function answer(hub: Hub, request: IncomingMessage, response: ServerResponse): void {
  hub.requests.push(request.url!);
  const json = (status: number, body: unknown, code?: string) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...(code && { 'x-error-code': code }) })
      .end(JSON.stringify(body));
  if (hub.requiredToken && request.headers.authorization !== `Bearer ${hub.requiredToken}`)
    return void json(401, { error: 'Access denied' });
  const { pathname, searchParams } = new URL(request.url!, 'http://hub');
  const refused = hub.refusals[pathname.includes('/resolve/') ? 'resolve' : 'revision'];
  if (refused) return void json(refused.status, { error: refused.code }, refused.code);
  const [, revision] = /^\/api\/models\/owner\/tiny\/revision\/(.+)$/.exec(pathname) ?? [];
  if (revision !== undefined && hub.revisions.includes(decodeURIComponent(revision)))
    return void json(200, { _id: '1', id: 'owner/tiny', sha: hub.commit });
  if (revision !== undefined) return void json(404, { error: 'Invalid rev id' }, 'RevisionNotFound');
  if (pathname === `/api/models/owner/tiny/tree/${encodeURIComponent(hub.commit)}`)
    return void json(
      200,
      Object.entries(hub.files)
        .filter(([name]) => !name.includes('/') || searchParams.get('recursive') === 'true')
        .map(([name, bytes]) => entryOf(hub, name, bytes)),
    );
  const name = pathname.split(`/owner/tiny/resolve/${encodeURIComponent(hub.commit)}/`)[1];
  const bytes = name === undefined ? undefined : (hub.sent[name] ?? hub.files[name]);
  if (!bytes) return void json(404, { error: 'Repository not found' }, 'RepoNotFound');
  sendFile(hub, name!, bytes, request, response);
}

const entryOf = (hub: Hub, name: string, bytes: Buffer) => ({
  type: 'file',
  path: name,
  size: bytes.length,
  oid: createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'),
  ...(/\.(?:safetensors|gguf)$/.test(name)
    ? { lfs: { oid: sha256(bytes), size: bytes.length, pointerSize: 130 } }
    : {}),
  ...hub.lies[name],
});

function sendFile(hub: Hub, name: string, bytes: Buffer, request: IncomingMessage, response: ServerResponse): void {
  const range = hub.knowsRanges ? request.headers.range : undefined;
  const [, first, last = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? 'bytes=0-')!;
  const from = Number(first);
  const end = last === '' ? bytes.length : Math.min(Number(last) + 1, bytes.length);
  if (range !== undefined) hub.ranges.push(range);
  const headers = { etag: '"x"', 'content-type': 'application/octet-stream', 'content-length': end - from };
  if (range === undefined) response.writeHead(200, headers);
  else response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${end - 1}/${bytes.length}` });
  const after = hub.breaks[name]?.shift();
  if (after === undefined) return void response.end(bytes.subarray(from, end));
  if (after === 0) return void response.destroy();
  hub.heldAt = from + after;
  hub.breakLines = () => {
    hub.heldAt = null;
    response.destroy();
  };
  response.write(bytes.subarray(from, from + after));
}
