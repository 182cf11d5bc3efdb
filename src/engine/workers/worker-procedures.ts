// The procedures that a server calls on a worker (docs/worker-protocol.md, sections 4 and 5): those of an engine in a child process,
// but with adapters as files by hash instead of directories on a shared disk.
import type { GenerateRequest } from '../inference-engine.ts';
import type { InferenceProcedures } from '../rpc/inference-procedures.ts';
import type { TrainingProcedures } from '../rpc/training-procedures.ts';
import type { LossProgram } from '../loss-program.ts';
import type { OpenSessionOptions, SaveOptions } from '../training-engine.ts';
import type { WireRows } from './wire-rows.ts';

export interface WireFile {
  /** A file name, not a path. */
  readonly name: string;
  readonly bytes: number;
  /** In hex digits. */
  readonly sha256: string;
}

/** Adapters with the same id have the same bytes. */
export interface WireAdapter {
  readonly id: string;
  readonly files: readonly WireFile[];
}

export interface WorkerProcedures
  extends
    Omit<InferenceProcedures, 'generate' | 'loadAdapter'>,
    Omit<TrainingProcedures, 'open' | 'logprobs' | 'forwardBackward' | 'save'> {
  generate: Omit<InferenceProcedures['generate'], 'params'> & {
    params: Omit<GenerateRequest, 'adapter'> & { adapter: WireAdapter | null };
  };
  loadAdapter: { params: WireAdapter; result: null };
  open: { params: Omit<OpenSessionOptions, 'from'> & { from: readonly WireFile[] | null }; result: number };
  /** Rows and results are encoded as in wire-rows.ts; the server checks the results. */
  logprobs: { params: { session: number } & WireRows; result: unknown };
  forwardBackward: { params: { session: number; loss: LossProgram } & WireRows; result: unknown };
  save: { params: { session: number; options: SaveOptions }; result: readonly WireFile[] };
}
