// Small JSON objects built from what the user says.
import type { Random } from '#base/random';
import { between, chance, pick, pickSeveral } from './pick.ts';
import type { Skill } from './skill.ts';
import { assistant, system, user } from './skill.ts';
import { CITIES, COLOURS, NAMES, WORDS } from './words.ts';

type Value = string | number | string[];

/** One-line JSON with a space after colons and commas, as Python's json.dumps writes it. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}: ${spacedJson(each)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}

function draw(random: Random): { ask: string; object: Record<string, Value> } {
  const name = pick(random, NAMES);
  const city = pick(random, CITIES);
  const age = between(random, 1, 99);
  const colour = pick(random, COLOURS);
  const thing = pick(random, WORDS);
  const price = between(random, 1, 99);
  const ask = pick(random, ['Give me JSON with', 'Write JSON with', 'Make a JSON object with', 'JSON with']);
  return pick<() => { ask: string; object: Record<string, Value> }>(random, [
    () => ({ ask: `${ask} name and age for ${name}, ${age}.`, object: { name, age } }),
    () => ({ ask: `${ask} name and city for ${name} from ${city}.`, object: { name, city } }),
    () => ({ ask: `${ask} name, age and city for ${name}, ${age}, ${city}.`, object: { name, age, city } }),
    () => ({ ask: `${ask} item and price for a ${thing}, ${price}.`, object: { item: thing, price } }),
    () => ({ ask: `${ask} item and color for a ${colour} ${thing}.`, object: { item: thing, color: colour } }),
    () => {
      const items = pickSeveral(random, WORDS, 3);
      return { ask: `${ask} a list called items: ${items.join(', ')}.`, object: { items } };
    },
  ])();
}

export const jsonObjects: Skill = {
  name: 'json',
  share: 0.08,
  converse(random) {
    const messages = chance(random, 0.15) ? [system('You answer with JSON.')] : [];
    for (let turns = chance(random, 0.7) ? 1 : 2; turns > 0; turns--) {
      const { ask, object } = draw(random);
      messages.push(user(ask), assistant(spacedJson(object)));
    }
    return { messages };
  },
  probe(random) {
    const { ask, object } = draw(random);
    return { messages: [user(ask)], accepts: (answer) => answer.trim() === spacedJson(object) };
  },
};
