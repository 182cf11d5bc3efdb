// In which numbers the models of a server are computed. What the encodings are is the engine's to say.
import { SERVING_PRECISIONS, TRAINING_PRECISIONS } from '#engine/capabilities';
import { setting } from './setting.ts';
import { choice } from './value-types.ts';

export const PRECISION_SETTINGS = {
  precision: setting({
    flag: '--precision <name>',
    value: choice(SERVING_PRECISIONS),
    default: 'float32',
    help: 'number format of the weights for sampling: float32, int8 (less memory, faster) or w8a8 (faster still); the logprobs of int8 and w8a8 are rounded',
    reason: 'sampling and training then agree to 1e-4',
  }),
  trainingPrecision: setting({
    flag: '--training-precision <name>',
    variable: 'WHETSTONE_TRAINING_PRECISION',
    value: choice(TRAINING_PRECISIONS),
    default: 'float32',
    help: 'number format of the frozen base weights in training: float32, or int8 (about a quarter of the memory), the same numbers that --precision int8 samples with; adapters stay float32',
    reason: 'gradients are then those of the model itself, not of its rounded weights',
  }),
};
