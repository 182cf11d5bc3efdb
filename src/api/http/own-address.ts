// The address at which a client reaches this server, for URLs in answers.
import type { FastifyRequest } from 'fastify';

/** As the client sees it, without a trailing slash. Headers of a proxy or the client are trusted: only the same client receives the answer. */
export const ownAddress = (request: FastifyRequest, basePath: string): string =>
  `${originOf(request)}${pathAbove(request, basePath)}`;

function originOf({ headers, protocol, host }: FastifyRequest): string {
  const first = (name: string) =>
    String(headers[name] ?? '')
      .split(',')[0]!
      .trim();
  const scheme = first('x-forwarded-proto') === 'https' ? 'https' : protocol;
  return `${scheme}://${first('x-forwarded-host') || host}`;
}

function pathAbove({ originalUrl, headers }: FastifyRequest, basePath: string): string {
  const forwarded = headers['x-forwarded-prefix'];
  if (typeof forwarded === 'string') return forwarded.replace(/\/+$/, '');
  return basePath !== '' && originalUrl.startsWith(`${basePath}/`) ? basePath : '';
}
