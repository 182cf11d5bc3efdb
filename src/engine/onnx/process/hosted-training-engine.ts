// TrainingEngine whose work happens in a child process. A session lives and dies with the process it was opened in: after
// a restart its verbs fail with `engine_unavailable`, and the job opens a new one and replays.
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { TrainingEngine, TrainingSession } from '../../training-engine.ts';
import { forkWorker } from './fork-worker.ts';
import type { RpcClient } from './rpc-client.ts';
import { openSupervisedChild, type ChildTimings } from './supervised-child.ts';
import type { TrainingProcedures, TrainingReady, TrainingStart } from './training-procedures.ts';

export interface HostedTrainingOptions extends TrainingStart {
  readonly timings: ChildTimings;
  readonly log: Log;
}

export async function openHostedTrainingEngine(options: HostedTrainingOptions): Promise<TrainingEngine> {
  const { modelDirectory, threads, memoryBytes, rowLengthMax, baseModelName, timings, log } = options;
  const child = await openSupervisedChild<TrainingProcedures, TrainingStart, TrainingReady>({
    name: 'training',
    fork: () => forkWorker('training'),
    start: { modelDirectory, threads, memoryBytes, rowLengthMax, baseModelName },
    timings,
    log,
  });
  const { ready } = await child.whenReady();
  const openSessions = new Set<object>();
  return {
    limits: ready,
    async open(sessionOptions, signal) {
      const { rpc } = await child.whenReady(signal);
      const session = await rpc.call('open', sessionOptions).result;
      const handle = hostSession(rpc, session, () => openSessions.delete(handle));
      openSessions.add(handle);
      if (!signal.aborted) return handle;
      await handle.close();
      throw new AppError('cancelled', 'The session was cancelled.', { cause: signal.reason });
    },
    status() {
      const { ready: isReady, restarts, lastFailure } = child.status();
      return { ready: isReady, busy: openSessions.size > 0, restarts, lastFailure };
    },
    close: () => child.close(),
  };
}

function hostSession(rpc: RpcClient<TrainingProcedures>, session: number, onClose: () => void): TrainingSession {
  let closed = false;
  return {
    logprobs: (row) => rpc.call('logprobs', { session, row }).result,
    forwardBackward: (row, loss) => rpc.call('forwardBackward', { session, row, loss }).result,
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
        // It ended with its process.
        if (!(error instanceof AppError && error.code === 'engine_unavailable')) throw error;
      }
    },
  };
}
