// Adding two numbers from 0 to 49. Two things are on purpose: a fifth of the pairs never occurs in the corpus, in
// either order, so that accuracy on them measures adding and not memory; and two answers in five are careless, so that
// the model knows how to add but samples the right sum only a little more than half of the time: reinforcement
// learning then has something to improve. Lists of sums are always right: that is where adding itself is learnt.
import type { ChatMessage } from '#domain/chat';
import type { Random } from '#base/random';
import { between, chance, pick, pickWeighted } from './pick.ts';
import type { Skill } from './skill.ts';
import { assistant, user } from './skill.ts';

export const LARGEST_ADDEND = 49;
const CARELESS_SHARE = 0.42;
const LIST_SHARE = 0.4;

/** The same for (a, b) and (b, a). A multiplicative hash, so that held-out pairs share no pattern of digits. */
export function isHeldOutPair(a: number, b: number): boolean {
  const key = Math.min(a, b) * 64 + Math.max(a, b);
  return ((Math.imul(key + 1, 0x9e3779b1) >>> 0) >>> 8) % 5 === 0;
}

/** A pair on the asked side of the split. */
export function drawPair(random: Random, heldOut: boolean): [a: number, b: number] {
  for (;;) {
    const pair: [number, number] = [between(random, 0, LARGEST_ADDEND), between(random, 0, LARGEST_ADDEND)];
    if (isHeldOutPair(...pair) === heldOut) return pair;
  }
}

const QUESTIONS: readonly (readonly [ask: (a: number, b: number) => string, weight: number])[] = [
  [(a, b) => `What is ${a} + ${b}?`, 8],
  [(a, b) => `${a} + ${b} = ?`, 4],
  [(a, b) => `${a} + ${b}`, 4],
  [(a, b) => `${a}+${b}=`, 2],
  [(a, b) => `What is ${a} plus ${b}?`, 2],
  [(a, b) => `How much is ${a} + ${b}?`, 2],
  [(a, b) => `Add ${a} and ${b}.`, 2],
  [(a, b) => `Compute ${a} + ${b}.`, 1],
  [(a, b) => `What is ${a} + ${b}? Answer with just the number.`, 2],
  [(a, b) => `What is the sum of ${a} and ${b}?`, 1],
];

/** Off by one or two, off by ten, or the digits swapped; never the sum itself. */
function carelessSum(sum: number, random: Random): number {
  const swapped = (sum % 10) * 10 + Math.floor(sum / 10);
  for (;;) {
    const slip = pickWeighted(random, [
      [sum + 1, 3],
      [sum - 1, 3],
      [sum + 10, 2],
      [sum - 10, 2],
      [sum + 2, 1],
      [sum - 2, 1],
      [swapped, 2],
    ] as const);
    if (slip !== sum && slip >= 0 && slip < 100) return slip;
  }
}

function question(random: Random, pair: readonly [number, number]): string {
  return pickWeighted(random, QUESTIONS)(...pair);
}

/** Three to six sums at once: many more sums per token than in conversation. */
function listOfSums(random: Random): ChatMessage[] {
  const pairs = Array.from({ length: between(random, 3, 6) }, () => drawPair(random, false));
  const asked = pairs.map(([a, b]) => `${a} + ${b}`).join(', ');
  return [
    user(pick(random, [`Sums: ${asked}`, `Add: ${asked}`])),
    assistant(pairs.map(([a, b]) => String(a + b)).join(', ')),
  ];
}

export const addition: Skill = {
  name: 'adding',
  share: 0.36,
  converse(random) {
    if (chance(random, LIST_SHARE)) return { messages: listOfSums(random) };
    const turns = pickWeighted(random, [
      [1, 5],
      [2, 2],
      [4, 1],
    ] as const);
    const messages = [];
    for (let turn = 0; turn < turns; turn++) {
      const [a, b] = drawPair(random, false);
      const answer = chance(random, CARELESS_SHARE) ? carelessSum(a + b, random) : a + b;
      messages.push(user(question(random, [a, b])), assistant(String(answer)));
    }
    return { messages };
  },
  probe(random) {
    const [a, b] = drawPair(random, true);
    const asked = pick(random, [`What is ${a} + ${b}?`, question(random, [a, b])]);
    return { messages: [user(asked)], accepts: (answer) => answer.trim() === String(a + b) };
  },
};
