// The API reference page and its script. Public: the page asks for a key when the reader sends a request from it.
import { AppError } from '#domain/errors';
import { barePage, PAGE_HEADERS } from './bare-pages.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { REFERENCE_HEADERS, referencePage, type Reference } from './reference.ts';
import { ASSET_HEADERS, sendWebFile } from '../http/web-file.ts';

/** `reference` null: not built; a page without scripts then explains how to build it. */
export function referenceRoutes(reference: Reference | null, version: string): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/docs',
      tag: 'Server',
      summary: 'Read the API reference: a page with search, examples, and requests to try',
      access: 'public',
      role: 'every',
      answer: ['text/html'],
      async handle({ request, reply }) {
        if (request.originalUrl.split('?')[0]!.endsWith('/')) return reply.redirect('../docs', 307);
        if (!reference) return reply.headers(PAGE_HEADERS).send(barePage(version));
        return reply.headers(REFERENCE_HEADERS).send(referencePage(reference));
      },
    }),
    endpoint({
      method: 'GET',
      path: '/docs/{file}',
      tag: 'Server',
      summary: 'Read the script of the API reference. Its name changes with its version',
      access: 'public',
      role: 'every',
      errors: [404],
      answer: ['text/javascript'],
      async handle({ params, request, reply }) {
        if (params.file !== reference?.scriptName)
          throw new AppError('not_found', 'The page has no such file. Load it again: /docs names those it has.');
        return sendWebFile(request, reply.headers(ASSET_HEADERS), reference!.script);
      },
    }),
  ];
}
