// What pages of other sites can do through a user's browser: reach the server under a host name of their own (DNS rebinding), and
// read its answers (CORS). Cookies grant nothing, so a page of an allowed origin still needs a key.
import fastifyCors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { isIP } from 'node:net';
import { isLoopback } from '#base/loopback';
import { AppError } from '#domain/errors';

/** In addition to the names of loopback. */
export interface AllowedHosts {
  readonly names: readonly string[];
  /** Stands for any address: the server listens on all addresses of its machine. */
  readonly anyAddress: boolean;
}

const PREFLIGHT_SECONDS = 86_400;

/** `hosts` null: any host. `origins`: may contain `*` for all. */
export function guardAgainstPages(app: FastifyInstance, hosts: AllowedHosts | null, origins: readonly string[]): void {
  app.addHook('onRequest', async ({ headers: { host }, raw }) => {
    if (hostsIn(raw.rawHeaders) > 1) throw twoHosts();
    if (hosts !== null && host !== undefined && !isAllowed(hosts, nameOf(host))) throw otherHost(host);
  });
  if (origins.length === 0) return;
  void app.register(fastifyCors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: ['x-request-id', 'request-id', 'retry-after', 'x-whetstone-model'],
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false,
  });
}

/** Node keeps the first one; a proxy may have looked at the last. */
const hostsIn = (rawHeaders: readonly string[]): number =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host').length;

const twoHosts = (): AppError =>
  new AppError('invalid_request', 'The request has more than one Host header. Send one.', { param: 'host' });

const isAllowed = ({ names, anyAddress }: AllowedHosts, name: string): boolean =>
  isLoopback(name) || names.includes(name) || (anyAddress && isIP(name) !== 0);

/** Without port and brackets; empty if it is not a valid name. */
function nameOf(host: string): string {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$|\.$/g, '') : '';
}

function otherHost(host: string): AppError {
  const name = nameOf(host);
  const shown = name === '' ? 'NAME' : name.slice(0, 100);
  return new AppError(
    'host_not_allowed',
    `This server does not answer to the name in the Host header, because a page of another site may have chosen it. Call it by its own name, or allow this one with --allowed-host ${shown}.`,
  );
}
