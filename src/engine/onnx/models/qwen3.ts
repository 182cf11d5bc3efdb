// Qwen3, dense: RMS norms on queries and keys instead of biases.
import { AppError } from '#domain/errors';
import type { ConfigJson, Family } from './config.ts';

export const qwen3: Family = {
  modelType: 'qwen3',
  switches(config) {
    refuseSlidingWindow(config);
    const bias = config['attention_bias'] === true;
    return { qkvBias: bias, outputBias: bias, queryKeyNorm: true };
  },
};

export function refuseSlidingWindow(config: ConfigJson): void {
  if (config['use_sliding_window'] === true) {
    throw new AppError('bad_model_files', 'config.json: use_sliding_window is not supported.');
  }
}
