// The larger or smaller of two numbers below 100, and yes or no questions about them. One answer in ten is careless.
import type { Random } from '#base/random';
import { between, chance, pick } from './pick.ts';
import type { Skill } from './skill.ts';
import { assistant, user } from './skill.ts';

const CARELESS_SHARE = 0.1;

interface Question {
  ask: string;
  right: string;
  wrong: string;
}

function draw(random: Random): Question {
  const a = between(random, 0, 99);
  let b = between(random, 0, 98);
  if (b >= a) b++;
  const [low, high] = [String(Math.min(a, b)), String(Math.max(a, b))];
  return pick<() => Question>(random, [
    () => ({ ask: `Which is larger, ${a} or ${b}?`, right: high, wrong: low }),
    () => ({ ask: `Which number is larger: ${a} or ${b}?`, right: high, wrong: low }),
    () => ({ ask: `Which is smaller, ${a} or ${b}?`, right: low, wrong: high }),
    () => ({ ask: `Is ${a} larger than ${b}?`, right: a > b ? 'yes' : 'no', wrong: a > b ? 'no' : 'yes' }),
    () => ({ ask: `Is ${a} smaller than ${b}?`, right: a < b ? 'yes' : 'no', wrong: a < b ? 'no' : 'yes' }),
  ])();
}

export const comparing: Skill = {
  name: 'comparing',
  share: 0.05,
  converse(random) {
    const messages = [];
    for (let turn = between(random, 1, 3); turn > 0; turn--) {
      const { ask, right, wrong } = draw(random);
      messages.push(user(ask), assistant(chance(random, CARELESS_SHARE) ? wrong : right));
    }
    return { messages };
  },
  probe(random) {
    const { ask, right } = draw(random);
    return { messages: [user(ask)], accepts: (answer) => answer.trim() === right };
  },
};
