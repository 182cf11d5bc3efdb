// The training child: a TrainingEngine behind the procedures that its parent calls. Runs at low OS priority, so that
// requests are answered while a job trains.
import { constants, setPriority } from 'node:os';
import { invariant } from '#base/invariant';
import type { TrainingEngine, TrainingSession } from '../../training-engine.ts';
import { createOnnxTrainingEngine } from '../learning/onnx-training-engine.ts';
import { createForwardingLog } from './child-process-port.ts';
import type { Port, ToClient, ToServer } from './rpc-messages.ts';
import { serveRpc } from './rpc-server.ts';
import type { LifecycleProcedures, LogLine } from './supervised-child.ts';
import type { TrainingProcedures, TrainingReady, TrainingStart } from './training-procedures.ts';

type Procedures = TrainingProcedures & LifecycleProcedures<TrainingStart, TrainingReady>;

export function serveTraining(port: Port<ToClient, ToServer>): void {
  // Before ONNX Runtime makes its threads: on Linux a priority is a thread's, and threads inherit it.
  setPriority(constants.priority.PRIORITY_LOW);
  let engine: TrainingEngine | null = null;
  let session: { number: number; verbs: TrainingSession } | null = null;
  let sessionCount = 0;
  const verbsOf = (number: number): TrainingSession => {
    invariant(session?.number === number, `session ${number} is not open`);
    return session.verbs;
  };
  const server = serveRpc<Procedures>(port, {
    async start({ modelDirectory, threads, memoryBytes, rowLengthMax, baseModelName }) {
      engine = await createOnnxTrainingEngine({
        modelDirectory,
        threads,
        ...(memoryBytes === null ? {} : { memoryBytes }),
        ...(rowLengthMax === null ? {} : { rowLengthMax }),
        ...(baseModelName === null ? {} : { baseModelName }),
        log: createForwardingLog((line: LogLine) => server.notify('log', line)),
      });
      return engine.limits;
    },
    ping: async () => null,
    async stop() {
      await session?.verbs.close();
      await engine?.close();
      return null;
    },
    async open(options, { signal }) {
      invariant(engine, 'the engine was called before it was started');
      const verbs = await engine.open(options, signal);
      session = { number: ++sessionCount, verbs };
      return session.number;
    },
    logprobs: ({ session, row }) => verbsOf(session).logprobs(row),
    forwardBackward: ({ session, row, loss }) => verbsOf(session).forwardBackward(row, loss),
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
  });
}
