// How jobs train and evaluate, and how long their data is kept.
import { TRAINER_NICE } from '#engine/backend';
import { setting } from './setting.ts';
import { gigabytes, integer } from './value-types.ts';

const DAY_SECONDS = 86_400;

export const TRAINING_SETTINGS = {
  trainingMemory: setting({
    flag: '--training-memory <gigabytes>',
    value: gigabytes,
    default: null,
    defaultText: '40 % of --memory, divided among the models, or what is left',
    help: 'memory for the rows of a training job, per base model; longer rollouts need more',
  }),
  trainerNice: setting({
    flag: '--trainer-nice <number>',
    variable: 'WHETSTONE_TRAINER_NICE',
    value: integer(0, 19),
    default: TRAINER_NICE,
    help: 'niceness of the embedded trainer’s process: how far it stands back for other work on a full machine; 0: not at all',
    reason:
      'the sampler has 10: beside it the trainer gets two fifths of a processor that both want, and beside a program without a niceness a sixteenth; at 19 it would be a seventieth',
  }),
  saveSeconds: setting({
    variable: 'WHETSTONE_SAVE_SECONDS',
    value: integer(0, DAY_SECONDS),
    default: 30,
    help: 'seconds between two saves of a job’s progress; 0: save after each gradient step',
    reason: 'a killed server repeats at most this much work; saving a small adapter takes milliseconds',
  }),
  evaluationPromptsMax: setting({
    variable: 'WHETSTONE_EVALUATION_PROMPTS_MAX',
    value: integer(1, 10_000),
    default: 1_000,
    help: 'maximum number of held-out prompts that a job may evaluate its checkpoint on',
    reason: 'common held-out sets have 100 to 1,000 prompts; the answers to each are stored in one file',
  }),
  evaluationTokensMax: setting({
    variable: 'WHETSTONE_EVALUATION_TOKENS_MAX',
    value: integer(1, 1_000_000_000),
    default: 2_000_000,
    help: 'maximum number of tokens that such an evaluation may generate: prompts × samples × max_tokens',
    reason: 'about an hour on a small engine, which clients share with it',
  }),
  keepDataDays: setting({
    variable: 'WHETSTONE_KEEP_DATA_DAYS',
    value: integer(1, 36_500),
    default: null,
    defaultText: 'never',
    help: 'delete logged trajectories and evaluations after this many days, and the trajectories and token records of an RL job this many days after it ended; metrics, events and checkpoints stay',
    reason: 'only the operator knows which data is no longer needed',
  }),
};
