// The vLLM sampler, as the worker process that an operator starts, connected to a real server: it keeps the contract of every
// inference engine. Needs the interpreter that WHETSTONE_VLLM_PYTHON names (scripts/python-env.sh vllm).
import { join } from 'node:path';
import { describe, vi } from 'vitest';
import { CONSTRAINT_KINDS } from '#domain/constraint';
import type { InferenceEngine } from '#engine/inference-engine';
import { inferenceEngineContract } from '../../support/contract/inference-engine.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { backPressureContract, LITTLE_ROOM } from '../../support/workers/back-pressure.ts';
import { writeByteTokenizer } from '../../support/workers/byte-tokenizer.ts';
import { closingWith } from '../../support/workers/closing-with.ts';
import { startPythonWorker } from './python-worker.ts';
import type { WorkerProcess } from './worker-process.ts';
import { ON_A_PROCESSOR, VLLM_PYTHON } from './vllm-worker.ts';
import { MODEL, openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';

/** vLLM is ready after a minute, and after several on a busy machine. */
vi.setConfig({ hookTimeout: 900_000, testTimeout: 900_000 });

describe('vLLM', skipWithoutPython('WHETSTONE_VLLM_PYTHON'), () => {
  inferenceEngineContract('the sampler on vLLM over a WebSocket', {
    capabilities: {
      exactReplay: false,
      exactTraining: false,
      exactLogprobs: true, // on a CPU; a worker does not declare it, because this was not verified on its GPU
      constraints: CONSTRAINT_KINDS,
      promptLogprobs: true,
      sharedPrefixRows: false,
      keepsGradients: false,
      precision: 'float32',
      unsupportedSampling: ['badWords', 'logprobTokenIds', 'thinkingBudget'],
    },
    writeModel: writeServableModel,
    async open({ directory }, queue): Promise<InferenceEngine> {
      const lab = await openWorkerLab(directory, queue ? { waitingMax: queue.waitingMax } : {});
      const worker = await startVllm(lab, directory, queue?.runningMax);
      return closingWith(lab.inference, async () => {
        await lab.close();
        await worker.leave();
      });
    },
  });

  // A start of vLLM for itself: the Node worker keeps it in back-pressure.test.ts.
  describe('with little room', skipUnlessLong(), () => {
    backPressureContract('the sampler on vLLM', async () => {
      const model = await writeServableModel();
      const lab = await openWorkerLab(model.directory, LITTLE_ROOM);
      const worker = await startVllm(lab, model.directory);
      return closingWith(lab, async () => {
        await worker.leave();
        await model.remove();
      });
    });
  });
});

const startVllm = (lab: WorkerLab, directory: string, sequencesMax = 64): Promise<WorkerProcess> =>
  startPythonWorker(
    lab,
    [
      ...['--model', directory, '--model-id', MODEL, '--roles', 'sample', '--dtype', 'float32'],
      ...['--sequences-max', String(sequencesMax), '--cache-dir', join(directory, 'worker-cache')],
      ...['--', '--enforce-eager'],
    ],
    { python: VLLM_PYTHON!, more: ON_A_PROCESSOR },
  );

/** With head sizes that vLLM's attention supports, and a tokenizer, without which it does not start. */
async function writeServableModel(): Promise<TinyModel> {
  const model = await writeTinyModel('qwen3', 1, 512, { head_dim: 32 });
  await writeByteTokenizer(model.directory);
  return model;
}
