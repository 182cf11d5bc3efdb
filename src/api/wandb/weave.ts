// What the `weave` library asks beside `wandb`: it joins runs by itself, and a process waits for its answers when it ends. Whetstone
// keeps no traces and says so by asking for a version that no client has: clients then warn once and go on without tracing. What an
// older or stubborn one sends all the same is dropped; the metrics of requests count it by its route.
import { z } from 'zod';
import { endpoint, type Endpoint } from '../endpoint.ts';

const serverInfo = z.object({
  min_required_weave_python_version: z.string(),
  trace_server_version: z.string().nullable(),
});

export function weaveRoutes(): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/traces/server_info',
      tag: 'W&B',
      summary: 'What the weave library asks before anything else: no client is new enough, so that none sends traces',
      access: 'public',
      answer: serverInfo,
      handle: async () => ({ min_required_weave_python_version: '999.0.0', trace_server_version: null }),
    }),
    endpoint({
      method: 'POST',
      path: '/traces/{path*}',
      tag: 'W&B',
      summary: 'Traces that a client of weave sends all the same: counted and dropped',
      access: 'any key',
      dialect: 'wandb',
      bodySize: 'file',
      answer: z.object({}),
      async handle({ request }) {
        for await (const _ of (request.body as AsyncIterable<Uint8Array> | undefined) ?? []);
        return {};
      },
    }),
  ];
}
