// Checks that every sampling request passes first, whatever its prompt: the key's daily tokens, the model that it names, its rank in
// the queue, and with whom it shares cached prefixes.
import { AppError } from '#domain/errors';
import type { GenerateRequest } from '#engine/inference-engine';
import type { AccountLimits } from '../accounts/account-limits.ts';
import type { Models, SampledModel } from '../models/models.ts';
import type { ChatContext } from './answer.ts';
import type { GenerationOptions } from './chat-request.ts';

export interface ChatSettings {
  /** Whether `priority` of a request affects the order. */
  readonly priorities: boolean;
  /** Maximum alternatives per token that a request may ask for; −1: no limit. */
  readonly logprobsMax: number;
}

export interface ModelDeps {
  readonly models: Pick<Models, 'resolve'>;
  readonly limits: Pick<AccountLimits, 'checkTokens'>;
}

/** Throws `model_not_found`, `too_many_requests`. */
export async function resolveModel(
  { models, limits }: ModelDeps,
  { caller, onModel }: Pick<ChatContext, 'caller' | 'onModel'>,
  name: string | null,
): Promise<SampledModel> {
  await limits.checkTokens(caller);
  const model = await models.resolve(caller, name);
  onModel?.(model);
  return model;
}

/** Throws `invalid_request`. */
export function checkPriority(
  { priority }: Pick<GenerationOptions, 'priority'>,
  { priorities }: Pick<ChatSettings, 'priorities'>,
): void {
  if (priority === 0 || priorities) return;
  const message = `priority ${priority} has no effect under first come, first served. Leave it out, or start the server with --scheduling-policy priority.`;
  throw new AppError('invalid_request', message, { param: 'priority' });
}

/** Lower than any priority that clients may send, and still a 32-bit integer for engines elsewhere. */
const BACKGROUND_PRIORITY = 2 ** 31 - 1;

export const servingOf = (
  { caller, isBackground }: Pick<ChatContext, 'caller' | 'isBackground'>,
  { priority, cacheSalt }: Pick<GenerationOptions, 'priority' | 'cacheSalt'>,
): Pick<GenerateRequest, 'priority' | 'payer' | 'cacheScope'> => ({
  priority: isBackground ? BACKGROUND_PRIORITY : priority,
  payer: caller.keyId,
  cacheScope: JSON.stringify([caller.entity, cacheSalt]),
});
