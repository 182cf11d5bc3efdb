// What a call throws when the engine's process is gone, and with it the call's session or stream. Trying again works as
// soon as there is another process.
import { AppError } from '#domain/errors';

export interface ProcessEnd {
  /** `was killed by SIGKILL`, `exited with code 1: …`: what the process did. */
  readonly how: string;
  /**
   * True: somebody sent a signal, or it took its leave: what it was computing is not the reason. Unknown: on another machine, where
   * nobody saw how it ended.
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
