// A call that is cut into pieces, between which another session trains, makes the bytes of the uncut call.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine } from '#engine/training-engine';
import { takeTurns } from '#services/trainer-turns';
import { randomPrompt } from '../../support/contract/inference-engine.ts';
import { ADAMW, crossEntropy, LORA } from '../../support/contract/training-cases.ts';
import { writeTinyModel } from '../../support/serving/tiny-model.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { plainRow } from '../../support/learning/tiny-decoders.ts';

const never = new AbortController().signal;
const ROWS = [30, 9, 21, 17].map((length, seed) => plainRow(randomPrompt(length, seed), {}));

test('two sessions that take turns after each row end in the bytes that each makes alone', async () => {
  const model = await writeTinyModel();
  const scratch = await mkdtemp(join(tmpdir(), 'whetstone-turns-'));
  const engine = await openOnnxTrainingEngine({
    modelDirectory: model.directory,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  onTestFinished(async () => {
    await engine.close();
    await model.remove();
    await rm(scratch, { recursive: true });
  });

  async function trained(on: TrainingEngine, seed: number, name: string) {
    const session = await on.open(aSession({ lora: { ...LORA, seed } }), never);
    const said: unknown[] = [];
    for (let step = 0; step < 2; step++) {
      said.push(await session.forwardBackward(ROWS, crossEntropy), await session.optimStep(ADAMW));
    }
    said.push(await session.logprobs(ROWS));
    const directory = join(scratch, name);
    await mkdir(directory);
    await session.save(directory, { resumable: true });
    await session.close();
    const files = ['adapter_model.safetensors', 'optimizer.safetensors'].map((file) => readFile(join(directory, file)));
    return { said, files: await Promise.all(files) };
  }

  const alone = [await trained(engine, 1, 'alone-1'), await trained(engine, 2, 'alone-2')];
  let saves = 0;
  const counted: TrainingEngine = {
    limits: engine.limits,
    status: () => engine.status(),
    close: () => engine.close(),
    async open(options, signal) {
      if (options.from !== null) saves++;
      return engine.open(options, signal);
    },
  };
  const shared = takeTurns(counted, {
    ...{ directory: join(scratch, 'turns'), keepsGradients: () => true, clock: systemClock, log: silentLog, turnMs: 0 },
  });
  const together = await Promise.all([trained(shared, 1, 'together-1'), trained(shared, 2, 'together-2')]);
  expect(saves).toBeGreaterThan(2 * ROWS.length);
  expect(together).toEqual(alone);
});
