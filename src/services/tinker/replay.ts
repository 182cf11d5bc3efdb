// Which operations must be executed again to bring a session to where it was: the updates after the saved state, and the gradients after
// the last of them. Gradients of which a part failed are not repeated. Pure functions.
import type { TinkerOperation } from '#domain/tinker';
import type { ForwardBackwardBody } from './operation-bodies.ts';

export interface Replay {
  readonly operations: readonly TinkerOperation[];
  /** The first forward_backward of a step that failed: nothing more is added to the step. Null: none has. */
  readonly lostSeq: number | null;
}

/** The first operation that is still needed after the saved state: what a replay executes, or the failure that it knows. Null: none. */
export const neededFrom = ({ operations, lostSeq }: Replay): number | null => operations[0]?.seq ?? lostSeq;

export const addsGradients = ({ kind, body }: Pick<TinkerOperation, 'kind' | 'body'>): boolean =>
  kind === 'forward_backward' && !(JSON.parse(body) as ForwardBackwardBody).forwardOnly;

/** A client that has read of a failure sends the data of the step again; what it sent before that is a part of the failed one. */
export const beginsAgain = ({ body }: Pick<TinkerOperation, 'body'>, lostSeq: number): boolean =>
  ((JSON.parse(body) as ForwardBackwardBody).knows ?? 0) >= lostSeq;

/** `finished`: all operations after the saved state, in order. */
export function planReplay(finished: readonly TinkerOperation[]): Replay {
  const operations: TinkerOperation[] = [];
  let step: TinkerOperation[] = [];
  let lostSeq: number | null = null;
  for (const operation of finished) {
    if (addsGradients(operation)) {
      if (operation.status === 'failed') {
        if (lostSeq === null || beginsAgain(operation, lostSeq)) lostSeq = operation.seq;
        step = [];
      } else {
        lostSeq = null;
        step.push(operation);
      }
    }
    if (operation.kind === 'optim_step') {
      if (operation.status === 'done') for (const each of [...step, operation]) operations.push(each);
      step = [];
      lostSeq = null;
    }
  }
  return { operations: [...operations, ...step], lostSeq };
}
