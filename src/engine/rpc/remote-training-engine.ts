// TrainingEngine that runs in another process. A session exists as long as the engine in which it was opened: if that engine
// is lost, the session's calls fail with EngineLost, and the job opens a new session and replays.
import { AppError } from '#domain/errors';
import type { TrainingEngine, TrainingSession } from '../training-engine.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { RpcClient } from './rpc-client.ts';
import type { TrainingProcedures, TrainingReady } from './training-procedures.ts';

export function createRemoteTrainingEngine(
  connection: EngineConnection<TrainingProcedures, TrainingReady>,
  limits: TrainingReady,
): TrainingEngine {
  const openSessions = new Set<object>();
  return {
    limits,
    async open(sessionOptions, signal) {
      const { rpc } = await connection.whenReady(signal);
      const session = await rpc.call('open', sessionOptions).result;
      const handle = remoteSession(rpc, session, () => openSessions.delete(handle));
      openSessions.add(handle);
      if (!signal.aborted) return handle;
      await handle.close();
      throw new AppError('cancelled', 'The session was cancelled.', { cause: signal.reason });
    },
    status() {
      const { ready, restarts, lastFailure } = connection.status();
      return { ready, busy: openSessions.size > 0, sessionsMax: 1, restarts, lastFailure };
    },
    close: () => connection.close(),
  };
}

function remoteSession(rpc: RpcClient<TrainingProcedures>, session: number, onClose: () => void): TrainingSession {
  let closed = false;
  return {
    rowsAtOnce: 1,
    logprobs: (rows) => rpc.call('logprobs', { session, rows }).result,
    forwardBackward: (rows, loss) => rpc.call('forwardBackward', { session, rows, loss }).result,
    optimStep: (params) => rpc.call('optimStep', { session, params }).result,
    async save(directory, options) {
      await rpc.call('save', { session, directory, options }).result;
    },
    async close() {
      if (closed) return;
      closed = true;
      onClose();
      try {
        await rpc.call('closeSession', { session }).result;
      } catch (error) {
        // The session ended with its engine.
        if (!(error instanceof AppError && error.code === 'engine_unavailable')) throw error;
      }
    },
  };
}
