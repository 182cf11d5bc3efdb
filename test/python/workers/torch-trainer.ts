// The PyTorch trainer of whetstone-worker in tests, in one process or several: its capabilities, and how it is started on a CPU.
import { join } from 'node:path';
import type { EngineCapabilities } from '#engine/capabilities';
import { MODEL } from '../../support/workers/worker-lab.ts';

export const TORCH_CAPABILITIES: EngineCapabilities = {
  exactReplay: false,
  exactTraining: true,
  exactLogprobs: false,
  constraints: [],
  promptLogprobs: false,
  sharedPrefixRows: true,
  keepsGradients: true,
  precision: 'float32',
  unsupportedSampling: [],
};

export const trainerArguments = (modelDirectory: string, rowLengthMax: number): string[] => [
  ...['--model', modelDirectory, '--model-id', MODEL, '--roles', 'train', '--device', 'cpu'],
  ...['--row-length-max', String(rowLengthMax), '--cache-dir', join(modelDirectory, 'worker-cache')],
];
