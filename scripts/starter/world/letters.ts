// Letters and order: reversing, spelling, first and last letters, sorting three words.
import type { Random } from '#base/random';
import { between, pick, pickSeveral, pickWeighted } from './pick.ts';
import type { Skill } from './skill.ts';
import { assistant, user } from './skill.ts';
import { WORDS } from './words.ts';

interface Exercise {
  ask: string;
  answer: string;
}

export function reversed(word: string): string {
  return [...word].reverse().join('');
}

function draw(random: Random): Exercise {
  const word = pick(random, WORDS);
  const three = pickSeveral(random, WORDS, 3);
  const exercises: readonly (readonly [() => Exercise, number])[] = [
    [() => ({ ask: `Reverse the word: ${word}`, answer: reversed(word) }), 4],
    [() => ({ ask: pick(random, [`Reverse ${word}.`, `Spell ${word} backwards.`]), answer: reversed(word) }), 3],
    [
      () => ({
        ask: pick(random, [`Spell the word: ${word}`, `How do you spell ${word}?`]),
        answer: [...word].join(' '),
      }),
      3,
    ],
    [() => ({ ask: `What is the first letter of ${word}?`, answer: word[0]! }), 1],
    [() => ({ ask: `What is the last letter of ${word}?`, answer: word.at(-1)! }), 1],
    [() => ({ ask: `How many letters are in ${word}?`, answer: String(word.length) }), 1],
    [
      () => ({
        ask: pick(random, [
          `Sort these words: ${three.join(', ')}`,
          `Sort the words ${three.join(', ')}.`,
          `Put in order: ${three.join(', ')}`,
        ]),
        answer: [...three].sort().join(', '),
      }),
      4,
    ],
  ];
  return pickWeighted(random, exercises)();
}

export const letters: Skill = {
  name: 'letters',
  share: 0.14,
  converse(random) {
    const messages = [];
    for (let turn = between(random, 1, 3); turn > 0; turn--) {
      const { ask, answer } = draw(random);
      messages.push(user(ask), assistant(answer));
    }
    return { messages };
  },
  probe(random) {
    const { ask, answer } = draw(random);
    return { messages: [user(ask)], accepts: (given) => given.trim() === answer };
  },
};
