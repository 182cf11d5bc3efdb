// The web page at `/` and its files. Public: it contains no data, and asks for a key before anything else.
import { AppError } from '#domain/errors';
import type { ApiServices } from '../http/api-services.ts';
import { landingPage, PAGE_HEADERS } from './bare-pages.ts';
import { DASHBOARD_HEADERS, type Dashboard } from './dashboard.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { ASSET_HEADERS, sendWebFile } from '../http/web-file.ts';

/** `dashboard` null: not built; a page without scripts then explains how to build it. */
export function dashboardRoutes(
  { baseModels }: Pick<ApiServices, 'baseModels'>,
  dashboard: Dashboard | null,
  version: string,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/',
      tag: 'Server',
      summary: 'Open the dashboard',
      access: 'public',
      role: 'every',
      answer: ['text/html'],
      async handle({ request, reply }) {
        if (!dashboard) {
          const ids = baseModels.list().map(({ id }) => id);
          return reply.headers(PAGE_HEADERS).send(landingPage(version, ids));
        }
        const inFolder = folderOf(request.originalUrl);
        if (inFolder) return reply.redirect(inFolder, 307);
        return sendWebFile(request, reply.headers(DASHBOARD_HEADERS), dashboard.page);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/assets/{file}',
      tag: 'Server',
      summary: 'Read a file of the dashboard. Its name changes with its content',
      access: 'public',
      role: 'every',
      errors: [404],
      answer: ['text/javascript', 'text/css', 'image/svg+xml'],
      async handle({ params, request, reply }) {
        const file = dashboard?.assets.get(params.file!);
        if (!file)
          throw new AppError('not_found', 'The dashboard has no such file. Load its page again: / names those it has.');
        return sendWebFile(request, reply.headers(ASSET_HEADERS), file);
      },
    }),
  ];
}

/** `/prefix` must be `/prefix/`, because the page's URLs are relative. Returns null if it is. */
function folderOf(url: string): string | null {
  const [path = ''] = url.split('?');
  return path === '' || path.endsWith('/') ? null : `${path.split('/').at(-1)!}/`;
}
