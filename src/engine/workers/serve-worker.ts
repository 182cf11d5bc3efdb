// The worker's side of the protocol, for engines in this process or its children: implements the worker's procedures with the two
// engine interfaces. Converts files named by their hashes into directories, and back. Knows no connection.
import { rm } from 'node:fs/promises';
import { createId } from '#base/ids';
import type { AdapterRef, InferenceEngine } from '../inference-engine.ts';
import { canRelay } from '../rpc/remote-inference-engine.ts';
import type { ToClient, ToServer } from '../rpc/rpc-messages.ts';
import { serveRpc, type Handlers } from '../rpc/rpc-server.ts';
import { createStatusReport, inferenceHandlers } from '../rpc/serve-inference.ts';
import { trainingHandlers } from '../rpc/serve-training.ts';
import { STATUS_NOTICE } from '../rpc/inference-procedures.ts';
import type { TrainingEngine } from '../training-engine.ts';
import type { ServedSession } from './dial-server.ts';
import type { EncodingPort } from './numbered-channel.ts';
import { createRelayBrake } from './relay-brake.ts';
import { fromWireRows, toWireResults } from './wire-rows.ts';
import type { WorkerFiles } from './worker-files.ts';
import type { WireAdapter, WorkerProcedures } from './worker-procedures.ts';

/** Four times a second, the most that the protocol allows. */
const STATUS_INTERVAL_MS = 250;

export interface WorkerEngines {
  /** Null: the worker does not sample. */
  readonly inference: InferenceEngine | null;
  /** Null: the worker does not train. */
  readonly training: TrainingEngine | null;
}

export function serveWorker(
  port: EncodingPort<ToClient, ToServer>,
  engines: WorkerEngines,
  files: WorkerFiles,
): ServedSession {
  const { inference } = engines;
  const sessionId = createId();
  const brake = createRelayBrake(port);
  const sampler = inferenceHandlers(() => engines.inference ?? absent('sample'));
  const trainer = trainingHandlers(() => engines.training ?? absent('train'));
  /** Keeps the adapter's files until the answer has ended: the engine reads them only when the request starts. */
  const usingAdapter = <T>(adapter: WireAdapter | null, use: (adapter: AdapterRef | null) => Promise<T>): Promise<T> =>
    adapter ? files.usingAdapter(adapter, use) : use(null);
  const handlers: Handlers<WorkerProcedures> = {
    ...sampler,
    generate: async (request, context) =>
      usingAdapter(request.adapter, async (adapter) => {
        if (!canRelay(inference)) return sampler.generate({ ...request, adapter }, context);
        const relay = { far: { session: sessionId, id: context.id }, send: brake.send };
        await brake.run(context, (slowed) => inference.relay({ ...request, adapter }, slowed, relay));
        return null;
      }),
    loadAdapter: async (adapter, context) =>
      files.usingAdapter(adapter, async (loaded) => sampler.loadAdapter(loaded, context)),
    ...trainer.handlers,
    async open({ from, ...options }, context) {
      const directory = from && (await files.fetch(from));
      try {
        return await trainer.handlers.open({ ...options, from: directory }, context);
      } finally {
        if (directory) await rm(directory, { recursive: true, force: true });
      }
    },
    async logprobs({ session, ...asked }, context) {
      return toWireResults(asked, await trainer.handlers.logprobs({ session, rows: fromWireRows(asked) }, context));
    },
    async forwardBackward({ session, loss, ...asked }, context) {
      const params = { session, loss, rows: fromWireRows(asked) };
      return toWireResults(asked, await trainer.handlers.forwardBackward(params, context));
    },
    async save({ session, options }, context) {
      const directory = await files.makeDirectory();
      try {
        await trainer.handlers.save({ session, directory, options }, context);
        return await files.bring(directory);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  };
  const server = serveRpc<WorkerProcedures>(port, handlers, port);
  const report = inference && createStatusReport(inference, (status) => server.notify(STATUS_NOTICE, status));
  const reporting = report && setInterval(() => port.isFull || report(), STATUS_INTERVAL_MS);
  return {
    async abandon() {
      if (reporting) clearInterval(reporting);
      server.abortAll();
      await trainer.closeSession();
    },
  };
}

function absent(role: string): never {
  throw new Error(`this worker does not ${role}`);
}
