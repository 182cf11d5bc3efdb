// The server itself: health, checks, metrics, its OpenAPI document. None of it needs a key, unless metrics are configured to.
import { z } from 'zod';
import { isLoopback } from '#base/loopback';
import { AppError } from '#domain/errors';
import type { Check } from '#services/health';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import type { Generations } from '../http/generations.ts';
import type { OpenApiDocument } from '../description/openapi.ts';

const check = z.object({
  success: z.boolean().describe('Whether the check passed.'),
  duration: z.number().describe('Duration of the check, in seconds.'),
  errors: z.array(z.string()),
});

interface Services extends Pick<ApiServices, 'health' | 'metrics'> {
  readonly generations: Pick<Generations, 'running'>;
}

/** `describe` is called per request, because it needs the complete list of endpoints, including these. */
export function serverRoutes(
  services: Services,
  { metricsAccess }: Pick<ApiLimits, 'metricsAccess'>,
  version: string,
  describe: () => OpenApiDocument,
): Endpoint[] {
  const { health, metrics, generations } = services;
  /** Made when it is first asked for, which takes a tenth of a second. Bytes, because anybody may ask often: writing the text takes longer. */
  let description: Buffer | null = null;
  const metricsFor = metricsAccess === 'key' ? ('any key' as const) : ('public' as const);
  const refuseOthers = (ip: string) => {
    if (metricsAccess === 'loopback' && !isLoopback(ip)) throw fromElsewhere();
  };
  /** All paths that health probes of comparable servers use. */
  const alive = (method: 'GET' | 'POST', path: string): Endpoint =>
    endpoint({
      method,
      path,
      tag: 'Server',
      summary: 'Check that the server responds',
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
      summary: 'Read the version of the server',
      access: 'public',
      role: 'every',
      answer: z.object({ version: z.string() }),
      handle: async () => ({ version }),
    }),
    endpoint({
      method: 'GET',
      path: '/load',
      tag: 'Server',
      summary: 'Read the number of unfinished generation requests. Accessible to the same clients as /metrics',
      access: metricsFor,
      role: 'every',
      errors: metricsAccess === 'loopback' ? [403] : [],
      answer: z.object({ server_load: z.int().describe('Number of generation requests that are not finished.') }),
      async handle({ request }) {
        refuseOthers(request.ip);
        return { server_load: generations.running };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/system-check',
      tag: 'Server',
      summary: 'Check the server and what it depends on. Returns 503 if a check fails',
      access: 'public',
      role: 'every',
      errors: [503],
      answer: z.object({
        api: z.literal(true).describe('Whether the API server responds.'),
        database: check.describe('Whether the store responds.'),
        cpu_queue: check.describe('Whether the trainer responds.'),
        gpu_queue: check.describe('Whether the sampler responds.'),
      }),
      async handle({ reply }) {
        const { database, inference, training } = await health.check();
        if (![database, inference, training].every(({ success }) => success)) reply.code(503);
        // The names are those of the hosted service: its queues correspond to our engines.
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
      summary: 'Read metrics in the Prometheus format',
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
      summary: 'Read this API’s OpenAPI 3.1 document',
      access: 'public',
      role: 'every',
      answer: z.looseObject({ openapi: z.string().describe('The version of OpenAPI: 3.1.0.') }),
      handle: async ({ reply }) =>
        reply.type('application/json; charset=utf-8').send((description ??= Buffer.from(JSON.stringify(describe())))),
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
