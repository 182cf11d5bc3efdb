// Which operations must be executed again to bring a session to where it was: the updates after the saved state, and the gradients after
// the last of them. A step whose gradients failed in part was not executed and is not repeated. Pure functions.
import type { TinkerOperation } from '#domain/tinker';
import type { ForwardBackwardBody } from './operation-bodies.ts';

export interface Replay {
  readonly operations: readonly TinkerOperation[];
  /** A forward_backward since the last step failed: the next step cannot be made. */
  readonly isStepLost: boolean;
}

export const addsGradients = ({ kind, body }: Pick<TinkerOperation, 'kind' | 'body'>): boolean =>
  kind === 'forward_backward' && !(JSON.parse(body) as ForwardBackwardBody).forwardOnly;

/** `finished`: all operations after the saved state, in order. */
export function planReplay(finished: readonly TinkerOperation[]): Replay {
  const operations: TinkerOperation[] = [];
  let step: TinkerOperation[] = [];
  let isStepLost = false;
  for (const operation of finished) {
    if (addsGradients(operation)) {
      if (operation.status === 'failed') isStepLost = true;
      else step.push(operation);
    }
    if (operation.kind === 'optim_step') {
      if (operation.status === 'done') operations.push(...step, operation);
      step = [];
      isStepLost = false;
    }
  }
  return { operations: isStepLost ? operations : [...operations, ...step], isStepLost };
}
