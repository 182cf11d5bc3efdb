// The Tinker protocol, for the unmodified SDK (TINKER_BASE_URL=http://HOST:PORT/tinker): see docs/tinker.md.
import { createSignedLinks } from '#services/accounts/signed-links';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { externalRoutes } from './external-routes.ts';
import { futureRoutes } from './future-routes.ts';
import { managingRoutes } from './managing-routes.ts';
import { samplingRoutes } from './sampling-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { trainingRoutes } from './training-routes.ts';

/** `cut` aborts when a shutdown has waited long enough. */
export function tinkerRoutes(
  services: Pick<ApiServices, 'tinker' | 'apiKeys' | 'accountLimits' | 'clock'>,
  { basePath }: Pick<ApiLimits, 'basePath'>,
  cut: AbortSignal,
): Endpoint[] {
  const { tinker, apiKeys, clock } = services;
  return [
    ...sessionRoutes(tinker),
    ...trainingRoutes(tinker),
    ...samplingRoutes(tinker),
    ...futureRoutes(tinker, cut),
    ...managingRoutes(tinker),
    ...externalRoutes(services, createSignedLinks(apiKeys, clock), basePath),
  ];
}
