// The Tinker protocol's losses on the PyTorch trainer, as the worker process that an operator starts, compared with the embedded
// engine: the same rows give the same loss, the same log-probability of every target and the same LoRA gradients, and calls add
// up to the same sum. test/engine/golden/tinker-losses.test.ts compares the embedded engine with PyTorch in float64. Needs the
// interpreter that WHETSTONE_WORKER_PYTHON names (scripts/python-env.sh worker).
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine } from '#engine/training-engine';
import { planDatumRows } from '#services/tinker/datum-rows';
import { tinkerLoss } from '#training/tinker-losses';
import { maxDistance, relativeDistance } from '../../support/golden/distance.ts';
import { openModelFixture, type ModelFixture } from '../../support/golden/fixture.ts';
import { readGradients } from '../../support/golden/gradients.ts';
import { NO_LIMITS } from '../../support/golden/no-limits.ts';
import { dataOf, golden, type Part } from '../../support/golden/tinker-cases.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { startPythonWorker } from './python-worker.ts';
import type { WorkerProcess } from './worker-process.ts';
import { trainerArguments } from './torch-trainer.ts';
import { openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';
import { rowLogprobs, trainRow } from '../../support/learning/one-row.ts';

/** A process that imports PyTorch on a busy machine may take a minute until its first output. */
vi.setConfig({ hookTimeout: 300_000, testTimeout: 300_000 });

/** Nats of a log-probability; of a gradient, its largest element. */
const TOLERANCE = 1e-5;

describe('Tinker on PyTorch', skipWithoutPython('WHETSTONE_WORKER_PYTHON'), () => {
  let directory: string;
  let fixture: ModelFixture;
  let embedded: TrainingEngine;
  let lab: WorkerLab;
  let worker: WorkerProcess;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-torch-tinker-'));
    fixture = await openModelFixture('qwen3');
    const model = join(directory, 'model');
    await cp(fixture.model, model, { recursive: true });
    embedded = await openOnnxTrainingEngine({ modelDirectory: model, threads: 1, memoryBytes: 4e9, log: silentLog });
    lab = await openWorkerLab(model);
    worker = await startPythonWorker(lab, trainerArguments(model, 1024));
  });
  afterAll(async () => {
    await worker?.leave();
    await lab?.close();
    await embedded?.close();
    await rm(directory, { recursive: true, force: true });
  });

  let trained = 0;
  async function trainOn(engine: TrainingEngine, parts: readonly Part[], sharing: 'shared' | 'separate') {
    const session = await engine.open(
      aSession({ from: fixture.adapter, lora: { rank: 4, alpha: 8, seed: 0 } }),
      AbortSignal.timeout(60_000),
    );
    const results: { loss: number; logprobs: Float32Array; before: Float32Array }[] = [];
    for (const part of parts) {
      const loss = tinkerLoss(part.loss, part.config);
      const { rows } = await planDatumRows(dataOf(part), loss, { limits: NO_LIMITS, vocabSize: 1000, sharing });
      for (const { row } of rows) {
        const before = await rowLogprobs(session, row);
        const result = await trainRow(session, row, loss.program);
        results.push({ loss: result.loss, logprobs: result.logprobs!, before });
      }
    }
    const gradients = await readGradients(session, join(directory, `gradients-${++trained}`));
    await session.close();
    return { results, gradients };
  }

  const cases = [
    ...golden.cases.map((each) => [`${each.loss} of ${each.data} ${JSON.stringify(each.config)}`, [each]] as const),
    ['many losses in one sum', golden.sum.parts] as const,
  ];
  describe.each(['shared', 'separate'] as const)('%s beginnings', (sharing) => {
    test.each(cases)('%s', async (_, parts) => {
      const [ours, expected] = [await trainOn(lab.training, parts, sharing), await trainOn(embedded, parts, sharing)];
      expect(ours.results).toHaveLength(expected.results.length);
      for (const [i, { loss, logprobs, before }] of ours.results.entries()) {
        const wanted = expected.results[i]!;
        expect(maxDistance(logprobs, wanted.logprobs)).toBeLessThan(TOLERANCE);
        expect(maxDistance(before, wanted.logprobs)).toBeLessThan(TOLERANCE);
        // A sum over targets: terms of opposite signs cancel, their rounding errors do not.
        expect(Math.abs(loss - wanted.loss) / logprobs.length).toBeLessThan(TOLERANCE);
      }
      expect([...ours.gradients.keys()].sort()).toEqual([...expected.gradients.keys()].sort());
      for (const [name, gradient] of expected.gradients)
        expect(relativeDistance(ours.gradients.get(name)!, gradient), name).toBeLessThan(TOLERANCE);
    });
  });
});
