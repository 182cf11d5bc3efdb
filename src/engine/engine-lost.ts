// The error that a call throws when the engine's process is gone, and with it the call's session or stream. A retry succeeds
// as soon as another process has started.
import { AppError } from '#domain/errors';

export interface ProcessEnd {
  /** What the process did: `was killed by SIGKILL`, `exited with code 1: …`. */
  readonly how: string;
  /**
   * True if the process received a signal or said goodbye, so the work it was doing is not the reason. Unknown if it ran on
   * another machine, where its end was not observed.
   */
  readonly byOthers: boolean | 'unknown';
}

export class EngineLost extends AppError {
  readonly end: ProcessEnd;

  constructor(engine: string, end: ProcessEnd) {
    super('engine_unavailable', `The ${engine} engine's process ${end.how}. Try again.`, { retryAfterSeconds: 1 });
    this.end = end;
  }
}
