// The embedded engines as a worker of a real server over real sockets: they keep the same contracts as in this process. The sampler
// is a separate process, as with `whetstone workers run`, and its output is forwarded unparsed.
import { silentLog } from '#base/log';
import type { InferenceEngine } from '#engine/inference-engine';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { onnxCapabilities } from '#engine/onnx/onnx-backend';
import { openInferenceEngine } from '#engine/onnx/open-engines';
import type { TrainingEngine } from '#engine/training-engine';
import { inferenceEngineContract } from '../../support/contract/inference-engine.ts';
import { trainingEngineContract } from '../../support/contract/training-engine.ts';
import { limitsOf } from '../../support/serving/test-limits.ts';
import { closingWith } from '../../support/workers/closing-with.ts';
import { openWorkerLab } from '../../support/workers/worker-lab.ts';

inferenceEngineContract('the embedded engine over a WebSocket', {
  capabilities: onnxCapabilities('float32'),
  async open({ directory }, queue): Promise<InferenceEngine> {
    const limits = limitsOf(queue);
    const engine = await openInferenceEngine({ modelDirectory: directory, threads: 2, limits, log: silentLog });
    const lab = await openWorkerLab(directory);
    await lab.connect({ inference: engine, training: null });
    return closingWith(lab.inference, async () => {
      await lab.close();
      await engine.close();
    });
  },
});

trainingEngineContract('the embedded engine over a WebSocket', {
  capabilities: onnxCapabilities('float32'),
  async open(options): Promise<TrainingEngine> {
    const engine = await openOnnxTrainingEngine({ ...options, memoryBytes: 4e9, log: silentLog });
    const lab = await openWorkerLab(options.modelDirectory);
    await lab.connect({ inference: null, training: engine });
    return closingWith(lab.training, async () => {
      await lab.close();
      await engine.close();
    });
  },
});
