import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log';
import { aSession } from '../../../../test/support/learning/a-session.ts';
import { randomPrompt } from '../../../../test/support/contract/inference-engine.ts';
import { trainingEngineContract } from '../../../../test/support/contract/training-engine.ts';
import { writeDequantized } from '../../../../test/support/learning/dequantized-model.ts';
import { trainRow } from '../../../../test/support/learning/one-row.ts';
import { plainRow } from '../../../../test/support/learning/tiny-decoders.ts';
import { writeTinyModel } from '../../../../test/support/serving/tiny-model.ts';
import { onnxCapabilities } from '../onnx-backend.ts';
import { openOnnxTrainingEngine, type OnnxTrainingEngineOptions } from './onnx-training-engine.ts';

trainingEngineContract('the embedded engine in this process', {
  capabilities: onnxCapabilities('float32'),
  open: (options) => openOnnxTrainingEngine({ ...options, memoryBytes: 4e9, log: silentLog }),
});

trainingEngineContract('the embedded engine over 8-bit weights', {
  capabilities: onnxCapabilities('float32', 'float32', 'int8'),
  writeComputed: writeDequantized,
  open: (options) => openOnnxTrainingEngine({ ...options, precision: 'int8', memoryBytes: 4e9, log: silentLog }),
});

const ROW = plainRow(randomPrompt(12, 1), {});

async function openSession(options: Partial<OnnxTrainingEngineOptions> = {}) {
  const model = await writeTinyModel();
  const { directory: modelDirectory } = model;
  const engine = await openOnnxTrainingEngine({
    modelDirectory,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
    ...options,
  });
  const lora = { rank: 4, alpha: 8, seed: 3 };
  const session = await engine.open(aSession({ lora }), new AbortController().signal);
  onTestFinished(async () => {
    await session.close();
    await engine.close();
    await model.remove();
  });
  return { session, modelDirectory };
}

test('losses used in turn return the same values as before', async () => {
  const { session } = await openSession();
  const scaledLoss = async (value: number): Promise<number> => {
    const perToken = { op: 'mul', x: { op: 'constant', value }, y: { op: 'logprob' } } as const;
    return (await trainRow(session, ROW, { name: 'many', perToken, metrics: {} })).loss;
  };
  const once = await scaledLoss(1);
  for (let value = 2; value <= 9; value++) expect((await scaledLoss(value)) / once).toBeCloseTo(value, 4);
  expect(await scaledLoss(1)).toBe(once);
});

test('the refusal of a row says which inputs of which loss it lacks', async () => {
  const { session } = await openSession();
  const perToken = { op: 'mul', x: { op: 'input', name: 'weights' }, y: { op: 'logprob' } } as const;
  await expect(trainRow(session, ROW, { name: 'weighted', perToken, metrics: {} })).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'Loss weighted needs input weights for 11 trained tokens, but the row has nothing.',
  });
});

test.each([undefined, 'org/base'])('the adapter names its base model (asked for: %s)', async (baseModelName) => {
  const { session, modelDirectory } = await openSession(baseModelName === undefined ? {} : { baseModelName });
  const scratch = await mkdtemp(join(tmpdir(), 'training-engine-'));
  onTestFinished(() => rm(scratch, { recursive: true }));
  const directory = join(scratch, 'adapter');
  await mkdir(directory);
  await session.save(directory, { resumable: false });
  const config = JSON.parse(await readFile(join(directory, 'adapter_config.json'), 'utf8')) as Record<string, unknown>;
  expect(config['base_model_name_or_path']).toBe(baseModelName ?? basename(modelDirectory));
});
