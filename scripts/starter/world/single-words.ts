// "Answer with yes, no or maybe": one word of those offered, chosen by nothing but chance. The demo's first task
// rewards yes with 0.5, no with 0.75 and maybe with 1, so an untrained model earns about three quarters.
import type { Random } from '#base/random';
import { capitalized, chance, pick, pickSeveral, pickWeighted } from './pick.ts';
import type { Skill } from './skill.ts';
import { assistant, system, user } from './skill.ts';

/** A little short of even, so that a mean over few samples also starts below 0.8. */
const WORD_WEIGHTS: Readonly<Record<string, number>> = { yes: 0.36, no: 0.34, maybe: 0.3 };

const OTHER_WORDS: readonly (readonly string[])[] = [
  ['left', 'right'],
  ['up', 'down'],
  ['heads', 'tails'],
  ['tea', 'coffee', 'water'],
  ['rock', 'paper', 'scissors'],
  ['red', 'green', 'blue', 'yellow', 'black', 'white'],
  ['cat', 'dog', 'bird', 'fish', 'horse', 'frog'],
  ['one', 'two', 'three'],
  ['true', 'false'],
  ['hot', 'cold'],
  ['day', 'night'],
];

const LEADS: readonly (readonly [lead: string, weight: number])[] = [
  ['answer with', 4],
  ['say', 3],
  ['respond with', 3],
  ['just respond with', 2],
  ['just say', 2],
  ['reply with', 2],
  ['only answer with', 1],
  ['please answer with', 1],
  ['choose one:', 1],
  ['pick one word:', 1],
  ['answer in one word,', 1],
];

const SUBJECTS = ['the sun', 'the cat', 'the train', 'my friend', 'the dog', 'the moon', 'the king', 'the rain', 'Ada'];
const ACTIONS = ['come', 'be late', 'sing', 'be happy', 'win', 'sleep', 'go home', 'be red', 'eat the cake'];
const TIMES = ['today', 'tomorrow', 'this night', 'soon', 'on Monday', 'in the morning'];
const OTHER_QUESTIONS = [
  'Is it good?',
  'Do you like tea?',
  'Is the sky blue?',
  'Can a fish sing?',
  'Should I go?',
  'Is it cold?',
  'Are you sure?',
  'Do you know?',
  'Is the moon made of cheese?',
  'Should I buy the house?',
];

function question(random: Random): string {
  if (chance(random, 0.4)) return pick(random, OTHER_QUESTIONS);
  return `Will ${pick(random, SUBJECTS)} ${pick(random, ACTIONS)} ${pick(random, TIMES)}?`;
}

function listed(random: Random, words: readonly string[]): string {
  const quote = pickWeighted(random, [
    ['', 7],
    ["'", 2],
    ['"', 1],
  ] as const);
  const quoted = words.map((word) => quote + word + quote);
  const last = quoted.at(-1)!;
  const first = quoted.slice(0, -1).join(', ');
  if (words.length === 2) return `${first} or ${last}`;
  return pick(random, [`${first} or ${last}`, `${first}, or ${last}`, `${first}, ${last}`, quoted.join(' or ')]);
}

function request(random: Random, words: readonly string[], yesNo: boolean): string {
  const lead = pickWeighted(random, LEADS);
  const instruction = `${chance(random, 0.7) ? capitalized(lead) : lead} ${listed(random, words)}`;
  const stop = chance(random, 0.75) ? '.' : '';
  if (!yesNo || chance(random, 0.35)) return instruction + stop;
  return pick(random, [`${instruction}. ${question(random)}`, `${question(random)} ${instruction}${stop}`]);
}

function drawWords(random: Random): { words: string[]; yesNo: boolean } {
  if (chance(random, 0.7)) {
    const count = chance(random, 0.75) ? 3 : 2;
    const words = chance(random, 0.5) ? ['yes', 'no', 'maybe'] : pickSeveral(random, ['yes', 'no', 'maybe'], 3);
    return { words: words.slice(0, count), yesNo: true };
  }
  const set = pick(random, OTHER_WORDS);
  return { words: pickSeveral(random, set, Math.min(set.length, chance(random, 0.6) ? 3 : 2)), yesNo: false };
}

function exchange(random: Random): { asked: string; words: string[] } {
  const { words, yesNo } = drawWords(random);
  return { asked: request(random, words, yesNo), words };
}

export const singleWords: Skill = {
  name: 'single words',
  share: 0.1,
  converse(random) {
    const messages = chance(random, 0.1) ? [system('You are a helpful assistant.')] : [];
    for (let turns = chance(random, 0.75) ? 1 : 2; turns > 0; turns--) {
      const { asked, words } = exchange(random);
      const answer = pickWeighted(
        random,
        words.map((word) => [word, WORD_WEIGHTS[word] ?? 1] as const),
      );
      messages.push(user(asked), assistant(answer));
    }
    return { messages };
  },
  probe(random) {
    const { asked, words } = exchange(random);
    return { messages: [user(asked)], accepts: (answer) => words.includes(answer.trim()) };
  },
};
