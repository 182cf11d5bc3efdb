// The server about itself: health, checks, metrics, its own description. All of it without a key.
import { z } from 'zod';
import type { Check } from '#services/health';
import type { ApiServices } from '../api-services.ts';
import { docsPage, landingPage } from '../docs-page.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import type { OpenApiDocument } from '../openapi.ts';

const check = z.object({ success: z.boolean(), duration: z.number(), errors: z.array(z.string()) });

type Services = Pick<ApiServices, 'health' | 'metrics' | 'baseModels'>;

/** `describe` is called when asked: it needs the complete list of endpoints, these included. */
export function serverRoutes(services: Services, version: string, describe: () => OpenApiDocument): Endpoint[] {
  const { health, metrics, baseModels } = services;
  return [
    endpoint({
      method: 'GET',
      path: '/v1/health',
      tag: 'Server',
      summary: 'The server answers',
      access: 'public',
      role: 'every',
      answer: z.object({ status: z.literal('ok'), version: z.string() }),
      handle: async () => ({ status: 'ok', version }),
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
      access: 'public',
      role: 'every',
      answer: ['text/plain'],
      handle: async ({ reply }) => reply.type(metrics.contentType).send(await metrics.text()),
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
    endpoint({
      method: 'GET',
      path: '/docs',
      tag: 'Server',
      summary: 'This API, described for people',
      access: 'public',
      role: 'every',
      answer: ['text/html'],
      handle: async ({ reply }) => reply.type('text/html; charset=utf-8').send(docsPage(describe())),
    }),
    endpoint({
      method: 'GET',
      path: '/',
      tag: 'Server',
      summary: 'Where to begin',
      access: 'public',
      role: 'every',
      answer: ['text/html'],
      async handle({ reply }) {
        const ids = baseModels.list().map(({ id }) => id);
        return reply.type('text/html; charset=utf-8').send(landingPage(version, ids));
      },
    }),
  ];
}

const wireCheck = ({ success, durationMs, errors }: Check) => ({
  success,
  duration: durationMs / 1000,
  errors: [...errors],
});
