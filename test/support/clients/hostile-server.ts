// A server that is not to be trusted, for both clients and the command line: one address per attack, on one port. Everything that an attack
// does not change is answered honestly, so each test shows that the attack, and nothing else, ends the call. Another port notes who comes by
// a redirect. Knows no client.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** What the client does. */
export type Verb = 'artifact' | 'pull' | 'checkpoint' | 'stream' | 'list' | 'follow';

export interface Attack {
  readonly name: string;
  readonly verb: Verb;
  /** The path whose answer it changes. */
  readonly at: RegExp;
  readonly answer: (response: ServerResponse, otherUrl: string, request: IncomingMessage) => void;
  /** The error of the clients. */
  readonly said: RegExp;
  /** Ends by the deadline of a request, which the command line has at ten minutes. */
  readonly isSlow?: boolean;
}

const ESCAPES = '\x1b[2J\x9b31m\u202e';
const CONTENT = '0123456789';
const SHA = createHash('sha256').update(CONTENT).digest('hex');
const FILE = { path: 'f', size_bytes: CONTENT.length, sha256: SHA };
const ARTIFACT = {
  id: 'a',
  ...{ entity: 'e', project: 'p', name: 'n', version: 'v0', aliases: [], type: 'dataset', uri: 'artifact:///e/p/n:v0' },
  ...{ digest: SHA, size_bytes: CONTENT.length, state: 'committed', metadata: {}, created_at: '2026-01-01T00:00:00Z' },
  files: [FILE],
};
const MODEL = { id: 'm', entity: 'e', project: 'p', name: 'm', base_model: 'whetstone/starter', run_id: null };
const JOB = { id: 'j', type: 'rl', model_id: 'm', status: 'succeeded', progress: 1, step: 1, created_at: '2026' };

const json = (response: ServerResponse, value: unknown): void => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(value));
};
const page = (data: unknown, more: object = {}) => ({ data, has_more: false, first_id: null, last_id: null, ...more });

function honest(path: string, response: ServerResponse): void {
  if (path === '/v1/preview/models') return json(response, page([MODEL]));
  if (path === '/v1/preview/training-jobs') return json(response, page([JOB]));
  if (path.endsWith('/events'))
    return void response.end('id: 1\ndata: {"type":"training_ended","id":"1","data":{}}\n\n');
  if (path === '/v1/preview/training-jobs/j') return json(response, JOB);
  if (path === '/v1/chat/completions')
    return void response.end('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n');
  if (path.split('/').length === 6) return json(response, ARTIFACT);
  response.setHeader('etag', `"${SHA}"`);
  response.setHeader('content-length', CONTENT.length);
  response.end(CONTENT);
}

type Answer = Attack['answer'];

const sending =
  (text: string, headers: Readonly<Record<string, string>> = {}, status = 200): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(text);
const endless =
  (text: string, headers: Readonly<Record<string, string>> = {}, status = 200): Answer =>
  (response) => {
    response.writeHead(status, headers);
    const piece = text.repeat(Math.ceil(60_000 / text.length));
    const write = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', write);
    write();
  };
/** A byte at a time, for ever. */
const dripping =
  (start: string, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).write(start);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  };
const raw =
  (text: string): Answer =>
  (response) =>
    void response.socket!.end(text);
const rawDrip: Answer = ({ socket }) => {
  socket!.write('HTTP/1.1 200 OK\r\nx-slow: ');
  const timer = setInterval(() => socket!.write('x'), 20);
  socket!.on('close', () => clearInterval(timer));
};
const redirecting =
  (status: number, isSame = false): Answer =>
  (response, otherUrl, request) =>
    void response.writeHead(status, { location: isSame ? request.url! : `${otherUrl}/taken` }).end();

const ABOUT = /^\/v1\/artifacts\/e\/p\/n(?::|%3A)v0$/;
const BYTES = /^\/v1\/artifacts\/e\/p\/n(?::|%3A)v0\//;
const DOWNLOAD = /\/download$/;
const JOBS = /training-jobs$/;
const EVENTS = /\/events$/;
const CHAT = /\/chat\/completions$/;

const NOT_ONE =
  /not that of a Whetstone server|not JSON|neither a JSON object|no list of rows|no type or no data|which files/;
const OUTSIDE = /outside of the directory|not that of a Whetstone server/;
const REDIRECT = /Redirects are not followed/;
const LATE = /in time|within 0\.5 s|timeout|Timeout/;
const BROKEN =
  /fetch failed|no server answers|connection to the server|protocol|Server disconnected|illegal|header|too long|received|Content-Length/i;

const listing = (name: string, file: object, said: RegExp): Attack => ({
  ...{ name, verb: 'pull', at: ABOUT, said },
  answer: (response) => json(response, { ...ARTIFACT, files: [{ ...FILE, ...file }] }),
});
const BOMB = gzipSync(Buffer.alloc(400_000_000, ' '));

export const ATTACKS: readonly Attack[] = [
  ...['../../x', '', SHA.toUpperCase(), SHA.slice(1)].map((sha256) =>
    listing(`the checksum ${JSON.stringify(sha256.slice(0, 8))}`, { sha256 }, /no SHA-256/),
  ),
  ...['../x', '/etc/x', 'a/../../x', 'a/..', '..', '.', 'a/./b', 'a//b', 'c:\\x', 'a\\..\\x', '', 'a\0b', 'a\x1b[2Jb', 7, null].map((path) =>
    listing(`the path ${JSON.stringify(path)}`, { path }, OUTSIDE),
  ),
  ...[null, 'many', -1, 1.5].map((size_bytes) =>
    listing(`the size ${JSON.stringify(size_bytes)}`, { size_bytes }, /how many bytes|not that of a Whetstone server/),
  ),
  listing('a size beyond any disk', { size_bytes: 9e14 }, /its disk has/),
  { name: 'a file without an end', verb: 'pull', at: BYTES, answer: endless('x'), said: /more than the 10 bytes/ },
  { name: 'other bytes', verb: 'pull', at: BYTES, answer: sending('9876543210'), said: /arrived damaged/ },
  { name: 'a compressed file without an end', verb: 'pull', at: BYTES, answer: (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB), said: /more than the 10 bytes|content-encoding/ },
  { name: 'no files', verb: 'pull', at: ABOUT, answer: sending('{"entity":"e","project":"p","name":"n","version":"v0"}'), said: NOT_ONE },
  { name: 'a list of files that is none', verb: 'pull', at: ABOUT, answer: (response) => json(response, { ...ARTIFACT, files: { length: 2 } }), said: NOT_ONE },
  { name: 'files that are null', verb: 'pull', at: ABOUT, answer: (response) => json(response, { ...ARTIFACT, files: [null] }), said: NOT_ONE },
  { name: 'JSON without an end', verb: 'artifact', at: ABOUT, answer: endless('[[],'), said: /answer has more than/ },
  { name: 'a compressed bomb', verb: 'artifact', at: ABOUT, answer: (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB), said: /answer has more than|content-encoding/ },
  { name: 'a page of HTML', verb: 'artifact', at: ABOUT, answer: sending(`<html>${ESCAPES}`), said: NOT_ONE },
  ...['null', '7', '"text"', '{"entity":', ''].map((text): Attack => ({ name: `the answer ${JSON.stringify(text)}`, verb: 'artifact', at: ABOUT, answer: sending(text), said: NOT_ONE })),
  { name: 'a deep answer', verb: 'list', at: JOBS, answer: sending('['.repeat(500_000) + ']'.repeat(500_000)), said: NOT_ONE },
  { name: 'an error without an end', verb: 'artifact', at: ABOUT, answer: endless('no ', {}, 400), said: /400 no no/ },
  { name: 'an error with escapes', verb: 'artifact', at: ABOUT, answer: (response) => void response.writeHead(400).end(JSON.stringify({ error: { message: `Bad ${ESCAPES}name` } })), said: /^Bad [^\x1b\x9b\u202e]*name/ },
  { name: 'an error of other types', verb: 'artifact', at: ABOUT, answer: sending('{"error":{"message":{"a":1},"code":[2]}}', {}, 400), said: /400|'a': 1/ },
  { name: 'a pause that is no number', verb: 'artifact', at: ABOUT, answer: (response) => void response.writeHead(400, { 'retry-after': '\xb2' }).end('{"error":{"message":"Bad."}}'), said: /Bad\./ },
  { name: 'a charset that decodes to no text', verb: 'artifact', at: ABOUT, answer: sending('{"error":{"message":"Bad."}}', { 'content-type': 'text/html; charset=zlib_codec' }, 400), said: /Bad\./ },
  ...[301, 302, 303, 307, 308].map((status): Attack => ({ name: `a redirect with ${status} elsewhere`, verb: 'artifact', at: ABOUT, answer: redirecting(status), said: REDIRECT })),
  { name: 'a redirect of a request with a body', verb: 'stream', at: CHAT, answer: redirecting(307), said: REDIRECT },
  { name: 'a redirect of a file', verb: 'pull', at: BYTES, answer: redirecting(302), said: REDIRECT },
  { name: 'a redirect of a checkpoint', verb: 'checkpoint', at: DOWNLOAD, answer: redirecting(302), said: REDIRECT },
  { name: 'a redirect of events', verb: 'follow', at: EVENTS, answer: redirecting(302), said: REDIRECT },
  { name: 'a redirect to itself', verb: 'list', at: JOBS, answer: redirecting(302, true), said: REDIRECT },
  { name: 'a redirect to nowhere', verb: 'list', at: JOBS, answer: sending('', {}, 302), said: REDIRECT },
  { name: 'a checkpoint without a checksum', verb: 'checkpoint', at: DOWNLOAD, answer: sending(CONTENT), said: /no SHA-256/ },
  { name: 'a checkpoint whose checksum is a path', verb: 'checkpoint', at: DOWNLOAD, answer: sending(CONTENT, { etag: '"../../x"' }), said: /no SHA-256/ },
  { name: 'a checkpoint without a size', verb: 'checkpoint', at: DOWNLOAD, answer: (response) => void response.writeHead(200, { etag: `"${SHA}"`, 'transfer-encoding': 'chunked' }).end(CONTENT), said: /how many bytes/ },
  { name: 'a checkpoint of other bytes', verb: 'checkpoint', at: DOWNLOAD, answer: sending('9876543210', { etag: `"${SHA}"`, 'content-length': '10' }), said: /arrived damaged/ },
  { name: 'a size that is no number', verb: 'checkpoint', at: DOWNLOAD, answer: raw(`HTTP/1.1 200 OK\r\netag: "${SHA}"\r\ncontent-length: ten\r\n\r\n${CONTENT}`), said: BROKEN },
  { name: 'a line that is no header', verb: 'list', at: JOBS, answer: raw('HTTP/1.1 200 OK\r\nno header\r\n\r\n{}'), said: BROKEN },
  { name: 'no HTTP at all', verb: 'list', at: JOBS, answer: raw(`SSH-2.0-${ESCAPES}\r\n`), said: BROKEN },
  { name: 'headers without an end', verb: 'list', at: JOBS, answer: raw(`HTTP/1.1 200 OK\r\n${'x-long: y\r\n'.repeat(50_000)}`), said: BROKEN },
  { name: 'a body that drips', verb: 'list', at: JOBS, answer: dripping('{"data":['), said: LATE, isSlow: true },
  { name: 'an error that drips', verb: 'list', at: JOBS, answer: dripping('{"error":', 400), said: LATE, isSlow: true },
  { name: 'headers that drip', verb: 'list', at: JOBS, answer: rawDrip, said: LATE, isSlow: true },
  { name: 'a file that drips', verb: 'pull', at: /n(?::|%3A)v0/, answer: (response, _, request) => (request.url!.endsWith('/f') ? dripping('')(response, _, request) : json(response, { ...ARTIFACT, files: [{ ...FILE, size_bytes: 1e6 }] })), said: LATE, isSlow: true },
  { name: 'the start of a stream that drips', verb: 'stream', at: CHAT, answer: rawDrip, said: LATE, isSlow: true },
  { name: 'pages without an end', verb: 'list', at: JOBS, answer: (response) => json(response, page([JOB], { has_more: true, last_id: 'j' })), said: /does not say how to go on/ },
  { name: 'a page that is no list', verb: 'list', at: JOBS, answer: (response) => json(response, page({ length: 3 })), said: NOT_ONE },
  { name: 'rows that are null', verb: 'list', at: JOBS, answer: (response) => json(response, page([null])), said: NOT_ONE },
  { name: 'a stream that is not JSON', verb: 'stream', at: CHAT, answer: sending('data: {"choices":\n\n'), said: NOT_ONE },
  { name: 'a stream of nothing', verb: 'stream', at: CHAT, answer: sending('data: null\n\n'), said: NOT_ONE },
  { name: 'a line of a stream without an end', verb: 'stream', at: CHAT, answer: endless('data: x'), said: /server-sent event is over/ },
  { name: 'an event of lines without an end', verb: 'stream', at: CHAT, answer: endless('data: x\n'), said: /server-sent event is over/ },
  { name: 'an error in a stream with escapes', verb: 'stream', at: CHAT, answer: (response) => void response.end(`data: ${JSON.stringify({ error: { message: `Bad ${ESCAPES}end` } })}\n\n`), said: /^Bad [^\x1b\x9b\u202e]*end/ },
  { name: 'an event that is not JSON', verb: 'follow', at: EVENTS, answer: sending('id: 1\ndata: {"type":\n\n'), said: NOT_ONE },
  { name: 'an event without data', verb: 'follow', at: EVENTS, answer: sending('id: 1\ndata: {"type":"gradient_step"}\n\n'), said: NOT_ONE },
  { name: 'a failure with escapes', verb: 'follow', at: EVENTS, answer: (response) => void response.end(`id: 1\ndata: ${JSON.stringify({ id: '1', type: 'training_failed', data: { error_message: `Bad ${ESCAPES}end` } })}\n\n`), said: /Bad .*end/s },
]; // prettier-ignore

/** Names that would lead elsewhere, hide a file or look like a flag, and the file that is written. */
export const NAMES: Readonly<Record<string, string>> = {
  '../../x': '__.._x-step1.tar',
  '/etc/x': '_etc_x-step1.tar',
  '.bashrc': '_bashrc-step1.tar',
  '-rf': '_rf-step1.tar',
  'a\0b': 'a_b-step1.tar',
  [`a${ESCAPES}b`]: 'a_2J_31m_b-step1.tar',
};

/** Not an attack on the call: it succeeds, and the name becomes the name of a file. */
export const naming = (name: string): Attack => ({
  ...{ name, verb: 'checkpoint', at: /^\/v1\/preview\/models$/, said: /^$/ },
  answer: (response) => json(response, page([{ ...MODEL, name }])),
});

export const VERBS: readonly Verb[] = ['artifact', 'pull', 'checkpoint', 'stream', 'list', 'follow'];

export interface HostileServer {
  /** Of an attack, or of an honest server. */
  readonly url: (attack: Attack | null) => string;
  /** What arrived at the other port. */
  readonly taken: readonly string[];
  close(): void;
}

export async function openHostileServer(attacks: readonly Attack[] = ATTACKS): Promise<HostileServer> {
  const taken: string[] = [];
  const other = createServer(({ url, headers }, response) => {
    taken.push(`${url} ${headers.authorization}`);
    response.end('{}');
  });
  const server = createServer((request, response) => {
    request.resume();
    const [, number, path] = /^\/(\w+)(\/[^?]*)/.exec(request.url!)!;
    const attack = attacks[Number(number)];
    if (attack?.at.test(path!)) attack.answer(response, urlOf(other), request);
    else honest(path!, response);
  });
  const urlOf = (each: typeof server) => `http://127.0.0.1:${(each.address() as AddressInfo).port}`;
  for (const each of [server, other]) await once(each.listen(0, '127.0.0.1'), 'listening');
  return {
    url: (attack) => `${urlOf(server)}/${attack ? attacks.indexOf(attack) : 'honest'}`,
    taken,
    close() {
      for (const each of [server, other]) each.close().closeAllConnections();
    },
  };
}
