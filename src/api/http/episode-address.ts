// The episode that a request names: by headers, or by the address `/e/NAME/v1/…` or `/e/GROUP/NAME/v1/…` for programs that take only a
// base URL and a key. Addresses are rewritten before routing, so that every endpoint exists under them.
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { AppError } from '#domain/errors';
import type { EpisodeRef } from '#services/episodes/recorder';
import { checkEpisodeName } from '#services/episodes/episodes';

/** Lazy: the first `/v1` ends the names, so a name cannot be `v1`. One endpoint lies beside `/v1`. */
const ADDRESS = /^\/e\/(.+?)((?:\/inference\/v1\/generate|\/v1)(?=[/?]|$).*)$/s;

/** The address alone, which Claude Code calls before it starts to see whether somebody answers. */
const BARE = /^\/e\/[^/]+(?:\/[^/]+)?$/;

/** Segments of the address in front of `/v1`, as sent. The request object is the one that the handler has as `request.raw`. */
const named = new WeakMap<IncomingMessage, readonly string[]>();

/** The path without the episode, which is kept for `episodeOf`. */
export function withoutEpisode(raw: IncomingMessage, url: string): string {
  if (raw.method === 'HEAD' && BARE.test(url)) return '/health';
  const [, names, rest] = ADDRESS.exec(url) ?? [];
  if (names === undefined || rest === undefined) return url;
  named.set(raw, names.split('/'));
  return rest;
}

/** `/e/NAME` or `/e/GROUP/NAME` of the address; empty: it names none. */
export function episodePrefix(raw: IncomingMessage): string {
  const names = named.get(raw);
  return names ? `/e/${names.join('/')}` : '';
}

/** Null: it names none. Throws `invalid_request` for what is not a name, and for two that disagree. */
export function episodeOf({ raw, headers }: FastifyRequest): Omit<EpisodeRef, 'answerId'> | null {
  const address = addressed(raw);
  const name = agreed(address?.name, headerOf(headers, 'x-whetstone-episode'), 'X-Whetstone-Episode');
  const group = agreed(address?.group, headerOf(headers, 'x-whetstone-group'), 'X-Whetstone-Group');
  const isTrained = isTrainedBy(headerOf(headers, 'x-whetstone-train'));
  if (name !== null) return { name, group, isTrained };
  if (group === null) return null;
  const message = 'X-Whetstone-Group names the group of an episode. Send X-Whetstone-Episode with it.';
  throw new AppError('invalid_request', message, { param: 'X-Whetstone-Group' });
}

function addressed(raw: IncomingMessage): { name: string; group: string | undefined } | null {
  const names = named.get(raw);
  if (!names) return null;
  if (names.length <= 2)
    return { name: decoded(names.at(-1)!), group: names.length === 2 ? decoded(names[0]!) : undefined };
  const message = `The address names ${names.length} parts before /v1. It is /e/EPISODE/v1/… or /e/GROUP/EPISODE/v1/…: names have no slash.`;
  throw new AppError('invalid_request', message, { param: 'base_url' });
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // refused as a name, because of its `%`
  }
}

function headerOf(headers: FastifyRequest['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** From the address and the header, either of which may be absent. */
function agreed(address: string | undefined, header: string | undefined, param: string): string | null {
  if (address !== undefined) checkEpisodeName(address, 'base_url', 'A name in the address');
  if (header !== undefined) checkEpisodeName(header, param);
  if (address === undefined || header === undefined || address === header) return address ?? header ?? null;
  const message = `The address names \`${address}\`, and ${param} names \`${header}\`. Send one of them.`;
  throw new AppError('invalid_request', message, { param });
}

function isTrainedBy(header: string | undefined): boolean {
  const value = header?.trim().toLowerCase() ?? 'true';
  if (value === 'true' || value === 'false') return value === 'true';
  const message = 'X-Whetstone-Train is true or false. false records a call of an episode without training it.';
  throw new AppError('invalid_request', message, { param: 'X-Whetstone-Train' });
}
