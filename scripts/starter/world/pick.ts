// Draws from lists: one item, several different ones, a weighted one, a coin.
import type { Random } from '#base/random';
import { shuffle } from '#base/random';

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.integer(items.length)]!;
}

/** `count` different items, in random order. */
export function pickSeveral<T>(random: Random, items: readonly T[], count: number): T[] {
  return shuffle([...items], random).slice(0, count);
}

export function pickWeighted<T>(random: Random, choices: readonly (readonly [item: T, weight: number])[]): T {
  let rest = random.next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [item, weight] of choices) {
    rest -= weight;
    if (rest < 0) return item;
  }
  return choices.at(-1)![0];
}

export function chance(random: Random, probability: number): boolean {
  return random.next() < probability;
}

/** Both ends included. */
export function between(random: Random, low: number, high: number): number {
  return low + random.integer(high - low + 1);
}

export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
