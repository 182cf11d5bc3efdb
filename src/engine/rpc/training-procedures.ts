// The procedures of a remote trainer: the methods of a TrainingSession, with the session's number.
import type { LossProgram } from '../loss-program.ts';
import type {
  ForwardBackwardResult,
  OpenSessionOptions,
  OptimizerParams,
  SaveOptions,
  TrainingLimits,
  TrainingRow,
} from '../training-engine.ts';

export type TrainingReady = TrainingLimits;

export interface TrainingProcedures {
  open: { params: OpenSessionOptions; result: number };
  logprobs: { params: { session: number; rows: readonly TrainingRow[] }; result: readonly Float32Array[] };
  forwardBackward: {
    params: { session: number; rows: readonly TrainingRow[]; loss: LossProgram };
    result: readonly ForwardBackwardResult[];
  };
  optimStep: { params: { session: number; params: OptimizerParams }; result: { gradNorm: number } };
  save: { params: { session: number; directory: string; options: SaveOptions }; result: null };
  closeSession: { params: { session: number }; result: null };
}
