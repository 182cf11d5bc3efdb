// Compiles the constraint on an answer before the answer begins, so that an error in it becomes a refusal that names the client's own
// field.
import { AppError } from '#domain/errors';
import type { SampledModel } from '../models/models.ts';
import type { RequestedConstraint } from './chat-request.ts';
import { checkConstraint } from './check-capabilities.ts';
import { prepareWithRetry } from './replaying-generation.ts';

export interface CompilingFor {
  readonly payer: string;
  readonly signal: AbortSignal;
}

/** Throws `invalid_constraint`, or `invalid_request` if the engine does not support such a constraint. */
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
