// What a server can ask of a worker (docs/worker-protocol.md, sections 4 and 5): the procedures of an engine in a child process,
// with adapters as files by their hashes instead of directories on a disk that both see.
import type { GenerateRequest } from '../inference-engine.ts';
import type { InferenceProcedures } from '../rpc/inference-procedures.ts';
import type { TrainingProcedures } from '../rpc/training-procedures.ts';
import type { LossProgram } from '../loss-program.ts';
import type { OpenSessionOptions, SaveOptions } from '../training-engine.ts';
import type { WireRows } from './wire-rows.ts';

export interface WireFile {
  /** No path: a name. */
  readonly name: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** Same id, same bytes. */
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
  /** Rows and results as in wire-rows.ts; the server checks the results. */
  logprobs: { params: { session: number } & WireRows; result: unknown };
  forwardBackward: { params: { session: number; loss: LossProgram } & WireRows; result: unknown };
  save: { params: { session: number; options: SaveOptions }; result: readonly WireFile[] };
}
