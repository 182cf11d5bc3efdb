// A game of several turns: the user thinks of a number between 1 and 20, the model guesses, and hears higher or lower. A fifth of the
// guesses ignores what was said, so there is room for training to improve.
import type { Random } from '#base/random';
import { between, chance, pick } from './pick.ts';
import type { Skill } from './skill.ts';
import { assistant, user } from './skill.ts';

const LARGEST = 20;
const CARELESS_SHARE = 0.2;

function opening(random: Random): string {
  return pick(random, [
    'I think of a number between 1 and 20. Guess.',
    'I think of a number between 1 and 20. Guess it.',
    'Guess my number between 1 and 20.',
    'Guess a number between 1 and 20.',
  ]);
}

/** Near the middle of the remaining range. */
function guess(random: Random, low: number, high: number): number {
  if (chance(random, CARELESS_SHARE)) return between(random, 1, LARGEST);
  const quarter = Math.floor((high - low) / 4);
  return between(random, low + quarter, high - quarter);
}

function answerTo(random: Random, guessed: number, secret: number): string {
  if (guessed === secret) return pick(random, ['correct', 'Correct!', 'Yes, correct!', 'You got it!']);
  const word = guessed < secret ? 'higher' : 'lower';
  return pick(random, [word, word, `${word}.`, word[0]!.toUpperCase() + word.slice(1)]);
}

export const guessing: Skill = {
  name: 'guessing game',
  share: 0.05,
  converse(random) {
    const secret = between(random, 1, LARGEST);
    const messages = [user(opening(random))];
    let [low, high] = [1, LARGEST];
    for (let turn = 0; turn < 7; turn++) {
      const guessed = guess(random, low, high);
      messages.push(assistant(String(guessed)), user(answerTo(random, guessed, secret)));
      if (guessed === secret) return { messages: [...messages, assistant('Great!')] };
      if (guessed < secret) low = Math.max(low, guessed + 1);
      else high = Math.min(high, guessed - 1);
    }
    return { messages: messages.slice(0, -1) };
  },
  probe(random) {
    const first = between(random, 5, 15);
    const higher = chance(random, 0.5);
    const messages = [user(opening(random)), assistant(String(first)), user(higher ? 'higher' : 'lower')];
    return {
      messages,
      accepts(answer) {
        const number = Number(answer.trim() || NaN);
        return (
          Number.isInteger(number) && (higher ? number > first && number <= LARGEST : number < first && number >= 1)
        );
      },
    };
  },
};
