// The two tasks of the demo. The first only has to shift a preference; the second has to prefer what the model knows about sums over its
// habit of careless answers (see the starter's model card), and is measured on pairs it never saw.
import { createRandom } from '#base/random';
import { drawPair } from '../../scripts/starter/world/addition.ts';
import type { Task } from './rl-loop.ts';

const WORD_REWARDS: Readonly<Record<string, number>> = { yes: 0.5, no: 0.75, maybe: 1 };

const WORD_PROMPTS = [
  'Answer with yes, no or maybe. Will the sun come tomorrow?',
  'Say yes, no or maybe.',
  'Answer with yes, no or maybe.',
  'Respond with yes, no or maybe. Do you like tea?',
  'Is it cold? Answer with yes, no or maybe.',
  'Just say yes, no or maybe.',
  'Reply with maybe, no or yes.',
  'Say no, maybe or yes. Should I go?',
];

/** Ten times the learning rate that suits training after examples, and more, smaller steps than rows of the default length allow. */
const CONFIG = { learning_rate: 2e-3, packed_sequence_length: 512 };

export const yesNoMaybe: Task = {
  name: 'yes / no / maybe',
  prompts: () => WORD_PROMPTS,
  reward: (_prompt, answer) => WORD_REWARDS[answer.trim().toLowerCase().replace(/\.$/, '')] ?? 0,
  rolloutsPerPrompt: 16,
  steps: 10,
  maxTokens: 6,
  config: CONFIG,
};

const PAIRS_PER_STEP = 16;

export const addition: Task = {
  name: 'addition',
  prompts(step) {
    const random = createRandom(1000 + step);
    return Array.from({ length: PAIRS_PER_STEP }, () => question(drawPair(random, false)));
  },
  reward(prompt, answer) {
    const [a, b] = prompt.match(/\d+/g)!.map(Number) as [number, number];
    return answer.trim() === String(a + b) ? 1 : 0;
  },
  rolloutsPerPrompt: 16,
  steps: 16,
  maxTokens: 6,
  config: CONFIG,
};

/** Pairs that neither the starter's corpus nor the training above contains. */
export function heldOutAdditions(count: number): string[] {
  const random = createRandom(99);
  return Array.from({ length: count }, () => question(drawPair(random, true)));
}

const question = ([a, b]: readonly [number, number]): string => `What is ${a} + ${b}?`;
