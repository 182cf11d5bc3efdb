// The PyTorch trainer, as the worker process that an operator starts, connected to a real server: it keeps the contract of every
// training engine. Needs the interpreter that WHETSTONE_WORKER_PYTHON names (scripts/python-env.sh worker).
import { describe, vi } from 'vitest';
import type { TrainingEngine } from '#engine/training-engine';
import { trainingEngineContract } from '../../support/contract/training-engine.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { closingWith } from '../../support/workers/closing-with.ts';
import { startPythonWorker } from './python-worker.ts';
import { TORCH_CAPABILITIES, trainerArguments } from './torch-trainer.ts';
import { openWorkerLab } from '../../support/workers/worker-lab.ts';

/** A process that imports PyTorch on a busy machine may take a minute until its first output. */
vi.setConfig({ hookTimeout: 300_000, testTimeout: 300_000 });

describe('PyTorch', skipWithoutPython('WHETSTONE_WORKER_PYTHON'), () => {
  trainingEngineContract('the trainer on PyTorch over a WebSocket', {
    capabilities: TORCH_CAPABILITIES,
    async open({ modelDirectory, rowLengthMax }): Promise<TrainingEngine> {
      const lab = await openWorkerLab(modelDirectory);
      const worker = await startPythonWorker(lab, trainerArguments(modelDirectory, rowLengthMax));
      return closingWith(lab.training, async () => {
        await worker.leave();
        await lab.close();
      });
    },
  });
});
