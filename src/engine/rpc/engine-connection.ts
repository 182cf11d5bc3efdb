// A connection to an engine in another process, which may be replaced while in use. Hides what carries the calls (a child process, a
// socket); does not know what the calls mean.
import type { RpcClient } from './rpc-client.ts';
import type { Procedures } from './rpc-messages.ts';

export interface LiveEngine<P extends Procedures<P>, Ready> {
  readonly rpc: RpcClient<P>;
  /** What the engine reported about itself when it was ready. */
  readonly ready: Ready;
}

/** Calls of a lost engine fail with EngineLost; the caller decides whether to repeat them on the next engine. */
export interface EngineConnection<P extends Procedures<P>, Ready> {
  /** Waits if a replacement is starting. Code: `engine_unavailable`. */
  whenReady(signal?: AbortSignal): Promise<LiveEngine<P, Ready>>;
  status(): { readonly ready: boolean; readonly restarts: number; readonly lastFailure: string | null };
  close(): Promise<void>;
}
