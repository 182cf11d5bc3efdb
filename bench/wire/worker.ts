// Entry of a worker: `whetstone workers run` with a sampler that has no model, or with the embedded trainer. Argument: what
// start-worker.ts tells it.
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import type { Hello } from '../../src/engine/workers/handshake.ts';
import { dialServer } from '../../src/engine/workers/dial-server.ts';
import { serveWorker, type WorkerEngines } from '../../src/engine/workers/serve-worker.ts';
import { openWorkerFiles } from '../../src/engine/workers/worker-files.ts';
import { readWorkerModel } from '../../src/engine/workers/worker-model.ts';
import { trainingMemoryShare } from '../../src/engine/onnx/machine-memory.ts';
import { onnxCapabilities } from '../../src/engine/onnx/onnx-backend.ts';
import { openTrainingEngine } from '../../src/engine/onnx/open-engines.ts';
import { processorMs } from '../../scripts/processor-ms.ts';
import { openSteppingEngine } from './open-engine.ts';

export type WireEngine =
  | { readonly kind: 'sampler'; readonly stepMs: number; readonly sequencesMax: number }
  | { readonly kind: 'trainer'; readonly threads: number };

export interface WireWorker {
  readonly url: string;
  readonly key: string;
  readonly modelId: string;
  readonly modelDirectory: string;
  readonly engine: WireEngine;
}

type Served = Pick<Hello, 'roles' | 'sampler' | 'trainer'> & WorkerEngines & { readonly enginePid: number | null };

const capabilities = onnxCapabilities('float32');

async function openEngine(engine: WireEngine, modelDirectory: string): Promise<Served> {
  if (engine.kind === 'sampler') {
    const { engine: inference, pid } = await openSteppingEngine(engine.stepMs);
    const { contextLength, vocabSize } = inference;
    const { sequencesMax } = engine;
    const sampler = { contextLength, vocabSize, sequencesMax, adaptersMax: 8, capabilities };
    return { roles: ['sample'], sampler, trainer: null, inference, training: null, enginePid: pid };
  }
  const { threads } = engine;
  const memoryBytes = trainingMemoryShare(1);
  const training = await openTrainingEngine({ modelDirectory, threads, memoryBytes, log: silentLog });
  const trainer = { limits: training.limits, capabilities, rowsAtOnce: 1 };
  return { roles: ['train'], sampler: null, trainer, inference: null, training, enginePid: null };
}

const { url, key, modelId, modelDirectory, engine } = JSON.parse(process.argv[2]!) as WireWorker;
const { roles, sampler, trainer, enginePid, ...engines } = await openEngine(engine, modelDirectory);
const files = await openWorkerFiles({ url, key, directory: join(modelDirectory, 'of-worker'), cacheBytesMax: 1e9 });
const server = dialServer({
  url,
  key,
  name: 'wire',
  version: '0',
  hello: { model: await readWorkerModel(modelId, modelDirectory), roles, sampler, trainer },
  serve: (port) => serveWorker(port, engines, files),
  log: silentLog,
});
process.send!({ enginePid });
process.on('message', () => process.send!({ ms: processorMs() }));
process.once('disconnect', () => {
  void server
    .leave(0)
    .then(() => Promise.all([engines.inference?.close(), engines.training?.close()]))
    .then(() => process.exit(0));
});
