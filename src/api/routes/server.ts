// The server about itself: health, checks, metrics, its own description. All of it without a key, unless metrics ask for one.
import { z } from 'zod';
import { isLoopback } from '#base/loopback';
import { AppError } from '#domain/errors';
import type { Check } from '#services/health';
import type { ApiLimits, ApiServices } from '../api-services.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import type { Generations } from '../generations.ts';
import type { OpenApiDocument } from '../openapi.ts';

const check = z.object({ success: z.boolean(), duration: z.number(), errors: z.array(z.string()) });

interface Services extends Pick<ApiServices, 'health' | 'metrics'> {
  readonly generations: Pick<Generations, 'running'>;
}

/** `describe` is called when asked: it needs the complete list of endpoints, these included. */
export function serverRoutes(
  services: Services,
  { metricsAccess }: Pick<ApiLimits, 'metricsAccess'>,
  version: string,
  describe: () => OpenApiDocument,
): Endpoint[] {
  const { health, metrics, generations } = services;
  const metricsFor = metricsAccess === 'key' ? ('any key' as const) : ('public' as const);
  const refuseOthers = (ip: string) => {
    if (metricsAccess === 'loopback' && !isLoopback(ip)) throw fromElsewhere();
  };
  /** Under every name that probes of such servers have. */
  const alive = (method: 'GET' | 'POST', path: string): Endpoint =>
    endpoint({
      method,
      path,
      tag: 'Server',
      summary: 'The server answers',
      access: 'public',
      role: 'every',
      answer: z.object({ status: z.literal('ok'), version: z.string() }),
      handle: async () => ({ status: 'ok', version }),
    });
  return [
    alive('GET', '/v1/health'),
    alive('GET', '/health'),
    alive('GET', '/ping'),
    alive('POST', '/ping'),
    endpoint({
      method: 'GET',
      path: '/version',
      tag: 'Server',
      summary: 'Which Whetstone this is',
      access: 'public',
      role: 'every',
      answer: z.object({ version: z.string() }),
      handle: async () => ({ version }),
    }),
    endpoint({
      method: 'GET',
      path: '/load',
      tag: 'Server',
      summary: 'Requests for tokens that are not answered yet; open to whom /metrics is',
      access: metricsFor,
      role: 'every',
      errors: metricsAccess === 'loopback' ? [403] : [],
      answer: z.object({ server_load: z.int() }),
      async handle({ request }) {
        refuseOthers(request.ip);
        return { server_load: generations.running };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/system-check',
      tag: 'Server',
      summary: 'What the server depends on works; 503 if something does not',
      access: 'public',
      role: 'every',
      errors: [503],
      answer: z.object({ api: z.literal(true), database: check, cpu_queue: check, gpu_queue: check }),
      async handle({ reply }) {
        const { database, inference, training } = await health.check();
        if (![database, inference, training].every(({ success }) => success)) reply.code(503);
        // The names are the hosted service's: its queues are our engines.
        return {
          api: true,
          database: wireCheck(database),
          cpu_queue: wireCheck(training),
          gpu_queue: wireCheck(inference),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/metrics',
      tag: 'Server',
      summary: 'Metrics for Prometheus',
      access: metricsFor,
      role: 'every',
      errors: metricsAccess === 'loopback' ? [403] : [],
      answer: ['text/plain'],
      async handle({ request, reply }) {
        refuseOthers(request.ip);
        return reply.type(metrics.contentType).send(await metrics.text());
      },
    }),
    endpoint({
      method: 'GET',
      path: '/openapi.json',
      tag: 'Server',
      summary: 'This API, described in OpenAPI 3.1',
      access: 'public',
      role: 'every',
      answer: z.looseObject({ openapi: z.string() }),
      handle: async () => describe(),
    }),
  ];
}

const fromElsewhere = (): AppError =>
  new AppError(
    'address_not_allowed',
    'Metrics are for this machine only (--metrics-access loopback). Read them there, or start the server with --metrics-access key.',
  );

const wireCheck = ({ success, durationMs, errors }: Check) => ({
  success,
  duration: durationMs / 1000,
  errors: [...errors],
});
