// The context of one request: the caller, the host name it used, and the services that resolvers may call.
import type { FastifyRequest } from 'fastify';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { allows } from '#domain/api-key';
import type { SignedLinks } from '#services/accounts/signed-links';
import type { ApiServices } from '../http/api-services.ts';
import { ownAddress } from '../http/own-address.ts';
import type { AnswerBudget } from './answer-budget.ts';

export interface WandbServices extends Pick<
  ApiServices,
  'runs' | 'artifacts' | 'artifactDrafts' | 'log' | 'accountLimits'
> {
  readonly links: SignedLinks;
}

export interface RequestContext {
  readonly caller: Caller;
  /** Their calls are counted. */
  readonly services: WandbServices;
  readonly budget: AnswerBudget;
  /** It comes from one of several processes that log to the same run. */
  readonly isShared: boolean;
  /** Creates URLs that need no key, each for one file. */
  fileUrls(): Promise<(permission: string) => string>;
}

export const FILES_PATH = '/wandb/files';

export function createRequestContext(
  request: FastifyRequest,
  caller: Caller,
  services: WandbServices,
  budget: AnswerBudget,
  basePath: string,
): RequestContext {
  const base = ownAddress(request, basePath);
  let signer: ReturnType<SignedLinks['signer']> | null = null;
  return {
    caller,
    services: {
      ...services,
      runs: budget.reading(services.runs),
      artifacts: budget.reading(services.artifacts),
      artifactDrafts: budget.reading(services.artifactDrafts),
    },
    budget,
    isShared: request.headers['x-wandb-use-async-filestream'] === 'true',
    async fileUrls() {
      const sign = await (signer ??= services.links.signer(caller));
      return (permission) => `${base}${FILES_PATH}?link=${sign(permission)}`;
    },
  };
}

/** Throws `missing_scope`. */
export function requireTrain({ scopes }: Caller): void {
  if (allows(scopes, 'train')) return;
  throw new AppError(
    'missing_scope',
    `This key may not do that: it needs the scope train, and has ${scopes.join(', ') || 'none'}. Make another with \`whetstone keys create --scopes train\`.`,
  );
}

export const time = (ms: number): string => new Date(ms).toISOString();
