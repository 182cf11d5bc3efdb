// Differences of two numbers, which the starter has not learned: it knows sums. A fifth of the pairs is never trained on.
import { createRandom } from '#base/random';
import { isHeldOutPair } from '../../scripts/starter/world/addition.ts';
import type { Task } from '../demo/rl-loop.ts';

const LARGEST = { a: 60, b: 40 };
/** Per job: few, so that there are many jobs, each with answers of the newest checkpoint. */
const PAIRS_PER_JOB = 16;

type Pair = readonly [a: number, b: number];

const ALL: readonly Pair[] = Array.from({ length: LARGEST.a }, (_, i) =>
  Array.from({ length: Math.min(i + 1, LARGEST.b) }, (_, j): Pair => [i + 1, j + 1]),
).flat();
const TRAINED = ALL.filter((pair) => !isHeldOutPair(...pair));

const question = ([a, b]: Pair): string => `What is ${a} - ${b}?`;

function drawTrained(seed: number, count: number): Pair[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => TRAINED[random.integer(TRAINED.length)]!);
}

export const heldOutSubtractions: readonly string[] = ALL.filter((pair) => isHeldOutPair(...pair)).map(question);

/** Conversations for SFT, always correct. */
export const subtractionExamples = (seed: number, count: number) =>
  drawTrained(seed, count).map((pair) => ({
    messages: [
      { role: 'user', content: question(pair) },
      { role: 'assistant', content: String(pair[0] - pair[1]) },
    ],
  }));

/** The rate is so low that many jobs show a slow rise; everything else is the server's default. */
export const subtraction = (seed: number, jobs: number): Task => ({
  name: `subtraction, seed ${seed}`,
  prompts: (step) => drawTrained(10_000 * seed + step, PAIRS_PER_JOB).map(question),
  reward(prompt, answer) {
    const [a, b] = prompt.match(/\d+/g)!.map(Number) as [number, number];
    return answer.trim() === String(a - b) ? 1 : 0;
  },
  rolloutsPerPrompt: 8,
  steps: jobs,
  config: { learning_rate: 6e-5 },
  maxTokens: 6,
});
