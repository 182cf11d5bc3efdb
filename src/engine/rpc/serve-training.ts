// Serves a TrainingEngine through the procedures of training-procedures.ts, over any transport. One session at a time, identified
// by number: a caller whose session has ended gets an error and never reaches the session of another caller.
import { invariant } from '#base/invariant';
import type { Log } from '#base/log';
import type { TrainingEngine, TrainingSession } from '../training-engine.ts';
import { createForwardingLog, LOG_NOTICE, type LifecycleProcedures } from './lifecycle-procedures.ts';
import type { Port, ToClient, ToServer } from './rpc-messages.ts';
import { serveRpc, type Handlers } from './rpc-server.ts';
import type { TrainingProcedures, TrainingReady } from './training-procedures.ts';

/** `start` opens the engine with the caller's options. */
export function serveTraining<Options>(
  port: Port<ToClient, ToServer>,
  openEngine: (options: Options, log: Log) => Promise<TrainingEngine>,
): void {
  let engine: TrainingEngine | null = null;
  const { handlers, closeSession } = trainingHandlers(() => {
    invariant(engine, 'the engine was called before it was started');
    return engine;
  });
  const server = serveRpc<TrainingProcedures & LifecycleProcedures<Options, TrainingReady>>(port, {
    async start(options) {
      engine = await openEngine(
        options,
        createForwardingLog((line) => server.notify(LOG_NOTICE, line)),
      );
      return engine.limits;
    },
    ping: async () => null,
    async stop() {
      await closeSession();
      await engine?.close();
      return null;
    },
    ...handlers,
  });
}

export interface TrainingHandlers {
  readonly handlers: Handlers<TrainingProcedures>;
  /** Closes the open session, if there is one. */
  readonly closeSession: () => Promise<void>;
}

export function trainingHandlers(engine: () => TrainingEngine): TrainingHandlers {
  let session: { number: number; verbs: TrainingSession } | null = null;
  let sessionCount = 0;
  const verbsOf = (number: number): TrainingSession => {
    invariant(session?.number === number, `session ${number} is not open`);
    return session.verbs;
  };
  const handlers: Handlers<TrainingProcedures> = {
    async open(options, { signal }) {
      const verbs = await engine().open(options, signal);
      session = { number: ++sessionCount, verbs };
      return session.number;
    },
    logprobs: ({ session, rows }) => verbsOf(session).logprobs(rows),
    forwardBackward: ({ session, rows, loss }) => verbsOf(session).forwardBackward(rows, loss),
    optimStep: ({ session, params }) => verbsOf(session).optimStep(params),
    async save({ session, directory, options }) {
      await verbsOf(session).save(directory, options);
      return null;
    },
    async closeSession({ session: number }) {
      await verbsOf(number).close();
      session = null;
      return null;
    },
  };
  return { handlers, closeSession: async () => session?.verbs.close() };
}
