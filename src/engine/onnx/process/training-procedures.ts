// What the server process can ask of the training child: the verbs of a TrainingSession, by the session's number.
import type { LossProgram } from '../../loss-program.ts';
import type {
  ForwardBackwardResult,
  OpenSessionOptions,
  OptimizerParams,
  SaveOptions,
  TrainingLimits,
  TrainingRow,
} from '../../training-engine.ts';

export interface TrainingStart {
  readonly modelDirectory: string;
  readonly threads: number;
  readonly memoryBytes: number | null;
  readonly rowLengthMax: number | null;
  readonly baseModelName: string | null;
}

export type TrainingReady = TrainingLimits;

export interface TrainingProcedures {
  open: { params: OpenSessionOptions; result: number };
  logprobs: { params: { session: number; row: TrainingRow }; result: Float32Array };
  forwardBackward: { params: { session: number; row: TrainingRow; loss: LossProgram }; result: ForwardBackwardResult };
  optimStep: { params: { session: number; params: OptimizerParams }; result: { gradNorm: number } };
  save: { params: { session: number; directory: string; options: SaveOptions }; result: null };
  closeSession: { params: { session: number }; result: null };
}
