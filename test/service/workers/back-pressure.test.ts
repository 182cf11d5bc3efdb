// The worker of this package while its server acknowledges nothing: with its engine in its own process, and in a child process
// whose tokens it forwards unparsed.
import { vi } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { openInferenceEngine } from '#engine/onnx/open-engines';
import type { InferenceEngine } from '#engine/inference-engine';
import { TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel } from '../../support/serving/tiny-model.ts';
import { backPressureContract, LITTLE_ROOM } from '../../support/workers/back-pressure.ts';
import { closingWith } from '../../support/workers/closing-with.ts';
import { openWorkerLab } from '../../support/workers/worker-lab.ts';

/** By the process of its engine. */
const ENGINES = {
  'an engine in its process': (modelDirectory) =>
    openOnnxInferenceEngine({ modelDirectory, threads: 1, limits: TEST_LIMITS, log: silentLog }),
  'an engine in a child': (modelDirectory) =>
    openInferenceEngine({ modelDirectory, threads: 1, limits: TEST_LIMITS, log: silentLog }),
} satisfies Record<string, (modelDirectory: string) => Promise<InferenceEngine>>;

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

for (const [name, openEngine] of Object.entries(ENGINES)) {
  backPressureContract(`a worker with ${name}`, async () => {
    const model = await writeTinyModel();
    const engine = await openEngine(model.directory);
    const lab = await openWorkerLab(model.directory, LITTLE_ROOM);
    await lab.connect({ inference: engine, training: null });
    return closingWith(lab, async () => {
      await engine.close();
      await model.remove();
    });
  });
}
