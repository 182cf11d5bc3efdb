// Entry of a worker whose engine has no model: `whetstone workers run` without the weights. Argument: what main.ts tells it.
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { dialServer } from '../../src/engine/workers/dial-server.ts';
import { serveWorker } from '../../src/engine/workers/serve-worker.ts';
import { openWorkerFiles } from '../../src/engine/workers/worker-files.ts';
import { readWorkerModel } from '../../src/engine/workers/worker-model.ts';
import { onnxCapabilities } from '../../src/engine/onnx/onnx-backend.ts';
import { openSteppingEngine } from './open-engine.ts';

export interface WireWorker {
  readonly url: string;
  readonly key: string;
  readonly modelId: string;
  readonly modelDirectory: string;
  readonly stepMs: number;
  readonly sequencesMax: number;
}

const { url, key, modelId, modelDirectory, stepMs, sequencesMax } = JSON.parse(process.argv[2]!) as WireWorker;
const { engine, pid } = await openSteppingEngine(stepMs);
const { contextLength, vocabSize } = engine;
const capabilities = onnxCapabilities('float32');
const files = await openWorkerFiles({ url, key, directory: join(modelDirectory, 'of-worker'), cacheBytesMax: 1e9 });
const server = dialServer({
  url,
  key,
  name: 'wire',
  version: '0',
  hello: {
    model: await readWorkerModel(modelId, modelDirectory),
    roles: ['sample'],
    sampler: { contextLength, vocabSize, sequencesMax, adaptersMax: 8, capabilities },
    trainer: null,
  },
  serve: (port) => serveWorker(port, { inference: engine, training: null }, files),
  log: silentLog,
});
process.send!({ enginePid: pid });
process.once('disconnect', () => {
  void server
    .leave(0)
    .then(() => engine.close())
    .then(() => process.exit(0));
});
