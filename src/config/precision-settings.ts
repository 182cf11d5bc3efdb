// In which numbers the models of a server are computed. What the encodings are is the engine's to say.
import { SERVING_PRECISIONS, TRAINING_PRECISIONS } from '#engine/capabilities';
import { setting } from './setting.ts';
import { choice } from './value-types.ts';

export const PRECISION_SETTINGS = {
  precision: setting({
    flag: '--precision <name>',
    value: choice(SERVING_PRECISIONS),
    default: 'float32',
    help: 'for sampling: float32; int8 (less memory, faster) or w8a8 (faster still), whose logprobs are rounded',
    reason: 'what was sampled is what is trained, to 1e-4',
  }),
  trainingPrecision: setting({
    flag: '--training-precision <name>',
    variable: 'WHETSTONE_TRAINING_PRECISION',
    value: choice(TRAINING_PRECISIONS),
    default: 'float32',
    help: 'of the frozen weights that a trainer reads: float32; int8 (about a quarter of the memory), the numbers that --precision int8 samples with; adapters stay float32',
    reason: 'gradients are then those of the model, and not of its rounded weights',
  }),
};
