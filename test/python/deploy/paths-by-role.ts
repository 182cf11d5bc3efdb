// Which role answers which path, according to the API itself: proxies for servers with roles must agree.
import type { OpenApiDocument } from '#api/description/openapi';
import { openTestServer, send } from '../../support/api/test-server.ts';
import { read } from '../../support/deploy/product.ts';

/** Paths of the API, with `x` for their parameters, grouped by whether a server with the role `api` leaves them to the role `serve`. */
export async function pathsByRole(): Promise<{ readonly serve: string[]; readonly api: string[] }> {
  const { paths } = JSON.parse(await read('docs/openapi.json')) as OpenApiDocument;
  const server = await openTestServer({ roles: ['api'] });
  const headers = { authorization: 'Bearer nobody' }; // roles are checked before keys, and keys before work
  const found = { serve: [] as string[], api: [] as string[] };
  try {
    for (const [path, methods] of Object.entries(paths)) {
      const url = path.replaceAll(/\{[^}]*\}/g, 'x');
      const answers = Object.keys(methods).map((method) =>
        send(server, { method: method.toUpperCase() as 'GET', url, headers }),
      );
      const codes = (await Promise.all(answers)).map(({ body }) => body.includes('"other_role"'));
      if (new Set(codes).size > 1)
        throw new Error(`${path} is answered by one role or another, depending on the method`);
      found[codes[0] ? 'serve' : 'api'].push(url);
    }
  } finally {
    await server.close();
  }
  return found;
}
