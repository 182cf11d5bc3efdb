// The way to an engine somewhere else, which may be replaced while it is used. What carries the calls (a child process, a
// socket) stands behind it; what the calls mean is the business of those who make them.
import type { RpcClient } from './rpc-client.ts';
import type { Procedures } from './rpc-messages.ts';

export interface LiveEngine<P extends Procedures<P>, Ready> {
  readonly rpc: RpcClient<P>;
  /** What it said of itself when it was ready. */
  readonly ready: Ready;
}

/** Calls of an engine that is lost fail with EngineLost; whether to ask its successor is the caller's decision. */
export interface EngineConnection<P extends Procedures<P>, Ready> {
  /** Waits for a replacement that is under way. Code: `engine_unavailable`. */
  whenReady(signal?: AbortSignal): Promise<LiveEngine<P, Ready>>;
  status(): { readonly ready: boolean; readonly restarts: number; readonly lastFailure: string | null };
  close(): Promise<void>;
}
