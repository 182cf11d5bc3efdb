// A worker that trains, but reports each token as slightly more likely than it is: for the test of the conformance suite.
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { dialServer } from '#engine/workers/dial-server';
import { serveWorker } from '#engine/workers/serve-worker';
import { openWorkerFiles } from '#engine/workers/worker-files';
import { readWorkerModel } from '#engine/workers/worker-model';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const {
  WHETSTONE_URL: url,
  WHETSTONE_API_KEY: key,
  WHETSTONE_MODEL: modelDirectory,
  WHETSTONE_MODEL_ID: id,
} = process.env;

const engine = await openOnnxTrainingEngine({
  modelDirectory: modelDirectory!,
  threads: 1,
  memoryBytes: 4e9,
  log: silentLog,
});
const lying = (session: TrainingSession): TrainingSession => ({
  rowsAtOnce: session.rowsAtOnce,
  logprobs: async (rows) => (await session.logprobs(rows)).map((ofRow) => ofRow.map((logprob) => logprob + 0.01)),
  forwardBackward: (rows, loss) => session.forwardBackward(rows, loss),
  optimStep: (params) => session.optimStep(params),
  save: (directory, options) => session.save(directory, options),
  close: () => session.close(),
});
const training: TrainingEngine = {
  limits: engine.limits,
  open: async (options, signal) => lying(await engine.open(options, signal)),
  status: () => engine.status(),
  close: () => engine.close(),
};
const directory = await mkdtemp(join(tmpdir(), 'whetstone-lying-worker-'));
const files = await openWorkerFiles({ url: url!, key: key!, directory, cacheBytesMax: 1e9 });
const server = dialServer({
  url: url!,
  key: key!,
  name: 'liar',
  version: '0',
  hello: {
    model: await readWorkerModel(id!, modelDirectory!),
    roles: ['train'],
    sampler: null,
    trainer: {
      limits: engine.limits,
      capabilities: { exactTraining: true, exactLogprobs: true, sharedPrefixRows: true, keepsGradients: true },
      rowsAtOnce: 1,
    },
  },
  serve: (port) => serveWorker(port, { inference: null, training }, files),
  log: silentLog,
});
process.once('SIGTERM', () => void server.leave(1_000));
await server.over;
await files.close();
await engine.close();
