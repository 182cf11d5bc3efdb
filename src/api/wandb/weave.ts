// What the `weave` library asks beside `wandb`: it joins runs by itself, and a process waits for its answers when it ends. Whetstone
// keeps no traces and says so by asking for a version that no client has: clients then warn once and go on without tracing. What an
// older or stubborn one sends all the same is counted and dropped, or refused, as --weave-traces says.
import { z } from 'zod';
import { AppError } from '#domain/errors';
import type { ApiLimits, ApiServices } from '../api-services.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';

const serverInfo = z.object({
  min_required_weave_python_version: z.string(),
  trace_server_version: z.string().nullable(),
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
    'This server keeps no traces and refuses them (--weave-traces refuse). Set WEAVE_DISABLED=true in the script.',
  );
