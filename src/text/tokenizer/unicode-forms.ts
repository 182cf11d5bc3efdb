// Unicode normal forms, character by character, so that each character of the result keeps the place that the library `tokenizers` gives
// it. The forms themselves are JavaScript's; how changes are counted is the crate unicode-normalization-alignments'.
import { changeText, type AlignedText, type Changes } from './aligned-text.ts';
import { laterIn } from './later-characters.ts';

export type UnicodeForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

export function normalizeForm(from: AlignedText, form: UnicodeForm): AlignedText {
  if (from.text.normalize(form) === from.text) return from;
  const all: Changes = { characters: [], changes: [] };
  for (const part of partsBetweenLater(from.text)) {
    const { characters, changes } = isLater(part.codePointAt(0)!) ? asItIs(part) : changesOf(part, form);
    for (const [i, character] of characters.entries()) {
      all.characters.push(character);
      all.changes.push(changes[i]!);
    }
  }
  return changeText(from, all);
}

function changesOf(text: string, form: UnicodeForm): Changes {
  const decomposed = decompose(text, form === 'NFC' || form === 'NFD' ? 'NFD' : 'NFKD');
  return form === 'NFC' || form === 'NFKC' ? compose(decomposed) : decomposed;
}

const isLater = laterIn('forms');
const asItIs = (character: string): Changes => ({ characters: [character], changes: [0] });

/** Characters whose form the library does not know stand alone: to it they are neither marks nor made of others. */
function partsBetweenLater(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at)!;
    const next = at + (point > 0xffff ? 2 : 1);
    if (isLater(point)) {
      if (from < at) parts.push(text.slice(from, at));
      parts.push(text.slice(at, next));
      from = next;
    }
    at = next;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

function decompose(text: string, form: 'NFD' | 'NFKD'): Changes {
  const characters: string[] = [];
  const changes: number[] = [];
  for (const character of text) {
    const whole = character < '\u00a0' ? character : character.normalize(form);
    let change = 0;
    for (const part of whole) {
      characters.push(part);
      changes.push(change);
      change = 1;
    }
  }
  return inOrder(characters, changes);
}

/** Marks that follow each other are sorted by their class; a character keeps its change. */
function inOrder(characters: readonly string[], changes: readonly number[]): Changes {
  const sorted = Array.from(characters.join('').normalize('NFD'));
  const order: Changes = { characters: [], changes: [] };
  let waiting: number[] = []; // those before `next` that have not been written
  let next = 0;
  for (const character of sorted) {
    let found = waiting.length === 0 ? undefined : waiting.find((i) => characters[i] === character);
    while (found === undefined && next < characters.length) {
      if (characters[next] === character) found = next;
      else waiting.push(next);
      next++;
    }
    if (found === undefined) throw new Error(`lost ${character} in its normal form`);
    if (waiting.length > 0) waiting = waiting.filter((i) => i !== found);
    order.characters.push(character);
    order.changes.push(changes[found]!);
  }
  return order;
}

/** The crate's Recompositions. */
function compose({ characters, changes }: Changes): Changes {
  const done: Changes = { characters: [], changes: [] };
  let first: { character: string; change: number } | null = null; // what marks may join
  let marks: Changes = { characters: [], changes: [] }; // those that follow it and have not joined
  const add = (to: Changes, character: string, change: number) => {
    to.characters.push(character);
    to.changes.push(change);
  };
  const flush = () => {
    if (first) add(done, first.character, first.change);
    for (const [i, mark] of marks.characters.entries()) add(done, mark, marks.changes[i]!);
    marks = { characters: [], changes: [] };
  };
  for (const [i, character] of characters.entries()) {
    const change = changes[i]!;
    const isMark = !isStarter(character);
    if (!first) {
      if (isMark) add(done, character, change);
      else first = { character, change };
      continue;
    }
    const last = marks.characters.at(-1);
    const isBlocked = last !== undefined && (!isMark || isSameClass(last, character));
    const joined: string | null = isBlocked ? null : join(first.character, character);
    if (joined !== null) first = { character: joined, change: first.change + change - 1 };
    else if (isMark) add(marks, character, change);
    else {
      flush();
      first = { character, change };
    }
  }
  flush();
  return done;
}

/** The one character that two make; null if they make none. */
function join(first: string, second: string): string | null {
  if (second < '\u0300') return null;
  const made = (first + second).normalize('NFC');
  return Array.from(made).length === 1 ? made : null;
}

/** Two marks whose classes are 1 and 240, the lowest and the highest: whatever changes places with neither has class 0. */
const [LOWEST, HIGHEST] = ['\u0334', '\u0345'];
const changesPlaces = (first: string, second: string): boolean => {
  const text = `a${first}${second}`;
  return first !== second && text.normalize('NFD') !== text;
};

const starters = new Map<string, boolean>();

function isStarter(character: string): boolean {
  if (character < '\u0300') return true;
  let known = starters.get(character);
  if (known === undefined) {
    const isMark = character === LOWEST || character === HIGHEST;
    known = !isMark && !changesPlaces(character, LOWEST) && !changesPlaces(HIGHEST, character);
    if (starters.size < 10_000) starters.set(character, known);
  }
  return known;
}

const isSameClass = (first: string, second: string): boolean =>
  !changesPlaces(first, second) && !changesPlaces(second, first);
