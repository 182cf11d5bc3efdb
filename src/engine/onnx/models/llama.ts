// Llama 2 and 3: no norms inside attention; biases only where `attention_bias` says so.
import { AppError } from '#domain/errors';
import type { Family } from './config.ts';

export const llama: Family = {
  modelType: 'llama',
  switches(config) {
    if (config['mlp_bias'] === true) throw new AppError('bad_model_files', 'config.json: mlp_bias is not supported.');
    const bias = config['attention_bias'] === true;
    return { qkvBias: bias, outputBias: bias, queryKeyNorm: false };
  },
};
