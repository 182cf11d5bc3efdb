// Has the constraint on an answer compiled before the answer begins, so that what is wrong with it is a refusal which names the
// client's own field.
import { AppError } from '#domain/errors';
import type { SampledModel } from '../models/models.ts';
import type { RequestedConstraint } from './chat-request.ts';
import { checkConstraint } from './check-capabilities.ts';
import { prepareWithRetry } from './replaying-generation.ts';

export interface CompilingFor {
  readonly payer: string;
  readonly signal: AbortSignal;
}

/** Throws `invalid_constraint`, `invalid_request` (the engine keeps to no such constraint). */
export async function compileConstraint(
  { base: { inference, capabilities } }: SampledModel,
  requested: RequestedConstraint,
  { payer, signal }: CompilingFor,
): Promise<void> {
  checkConstraint(requested, capabilities);
  try {
    await prepareWithRetry(inference, requested.constraint, { payer, signal });
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_constraint')
      throw new AppError(error.code, error.message, { cause: error.cause, param: requested.param });
    throw error;
  }
}
