// What the `weave` library requests in addition to `wandb`: it starts with runs automatically, and a process waits for its requests
// before it exits. Whetstone stores no traces and asks for a version that no client has: clients then warn once and continue without
// tracing. Traces that are sent anyway are counted and dropped, or refused, according to --weave-traces.
import { z } from 'zod';
import { AppError } from '#domain/errors';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';

const serverInfo = z.object({
  min_required_weave_python_version: z
    .string()
    .describe(
      'Lowest version of the weave library that may send traces. It is higher than any existing version, so that no client sends traces.',
    ),
  trace_server_version: z.string().nullable().describe('Always null: traces are not stored.'),
});

export function weaveRoutes(
  { metrics }: Pick<ApiServices, 'metrics'>,
  weaveTraces: ApiLimits['weaveTraces'],
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/traces/server_info',
      tag: 'W&B',
      summary: 'Read the minimum version of the weave library. No client meets it, so no client sends traces',
      access: 'public',
      answer: serverInfo,
      handle: async () => ({ min_required_weave_python_version: '999.0.0', trace_server_version: null }),
    }),
    endpoint({
      method: 'POST',
      path: '/traces/{path*}',
      tag: 'W&B',
      summary: 'Send traces of weave clients. They are counted and dropped, or refused',
      errors: weaveTraces === 'refuse' ? [404] : [],
      access: 'any key',
      dialect: 'wandb',
      bodySize: 'file',
      answer: z.object({}),
      async handle({ request }) {
        if (weaveTraces === 'refuse') throw refused();
        let sizeBytes = 0;
        const content = (request.body as AsyncIterable<Uint8Array> | undefined) ?? [];
        for await (const { length } of content) sizeBytes += length;
        metrics.tracesDropped(sizeBytes);
        return {};
      },
    }),
  ];
}

const refused = (): AppError =>
  new AppError(
    'not_found',
    'This server does not store traces and refuses them (--weave-traces refuse). Set WEAVE_DISABLED=true in the script.',
  );
