// Runs a compiled regular expression. It backtracks like Oniguruma, so its matches are the same, but on a stack of its own and with a budget:
// an expression that would try for ever on some text fails instead.
import { isHigh, isLow } from '../aligned-text.ts';
import { SHORTHANDS } from './character-set.ts';
import { ASSERTIONS, ENDLESS, OP, WAYS, type Program } from './compiler.ts';

/** Thrown when a text takes more steps than its length allows. */
export class RegexStepsError extends Error {}

/** Real expressions take about ten for each character; those that look ahead over a long run take as many as the run is long. */
const STEPS = { base: 20_000, perUnit: 4_000 };
/** Places to go back to; each is three numbers. */
const STACK_MAX = 3 * 4_000_000;
const NO_LOOP = -1;

export interface Matcher {
  /** Where the match that begins at `at` ends; -1: none does. */
  end(text: string, at: number): number;
  /** Call before the first search in a text. */
  begin(text: string): void;
}

export function createMatcher({ code, sets, registers }: Program): Matcher {
  const remembered = new Int32Array(registers);
  let stack = new Int32Array(3 * 256);
  let top = 0;
  let text = '';
  let stepsLeft = 0;

  function push(pc: number, at: number, least: number): void {
    if (top + 3 > stack.length) {
      if (stack.length >= STACK_MAX) throw new RegexStepsError();
      const larger = new Int32Array(stack.length * 2);
      larger.set(stack);
      stack = larger;
    }
    stack[top] = pc;
    stack[top + 1] = at;
    stack[top + 2] = least;
    top += 3;
  }

  /** The place after the character at `at` if the set has it; -1 if not. */
  function step(set: number, at: number): number {
    if (at >= text.length) return -1;
    const unit = text.charCodeAt(at);
    if (!isHigh(unit) || at + 1 === text.length) return sets[set]!.has(unit) ? at + 1 : -1;
    return sets[set]!.has(text.codePointAt(at)!) ? at + 2 : -1;
  }

  /** The end of as many characters of a set as there are; -1: fewer than `min`. */
  function most(set: number, at: number, min: number, max: number): number {
    const { has } = sets[set]!;
    const begin = at;
    let count = 0;
    while (count < max && at < text.length) {
      const unit = text.charCodeAt(at);
      const isPair = isHigh(unit) && at + 1 < text.length;
      if (!has(isPair ? text.codePointAt(at)! : unit)) break;
      at += isPair ? 2 : 1;
      count++;
    }
    stepsLeft -= at - begin;
    return count < min ? -1 : at;
  }

  /** `count` characters further; -1: the text ends before. */
  function skip(at: number, count: number): number {
    for (let i = 0; i < count; i++) {
      if (at >= text.length) return -1;
      at += text.codePointAt(at)! > 0xffff ? 2 : 1;
    }
    return at;
  }

  function back(at: number, count: number): number {
    for (let i = 0; i < count; i++) {
      if (at === 0) return -1;
      at -= at > 1 && isLow(text.charCodeAt(at - 1)) ? 2 : 1;
    }
    return at;
  }

  /** Takes the last place to go back to. Returns false if there is none above `base`. */
  let pc = 0;
  let place = 0;
  function goBack(base: number): boolean {
    while (top > base) {
      top -= 3;
      const where = stack[top]!;
      const at = stack[top + 1]!;
      const least = stack[top + 2]!;
      if (where < 0) {
        remembered[-where - 1] = at;
        continue;
      }
      pc = where;
      if (least === NO_LOOP) place = at;
      else if (least >= 0) {
        place = back(at, 1); // one character fewer
        if (place > least) push(where, place, least);
      } else {
        place = step(code[where + 1]!, at); // one character more, of a lazy loop
        if (place < 0) continue;
        push(where, place, least);
        pc = where + 5;
      }
      return true;
    }
    return false;
  }

  function loop(at: number): number {
    const set = code[pc + 1]!;
    const min = code[pc + 2]!;
    const max = code[pc + 3]!;
    const way = code[pc + 4]!;
    if (way === WAYS.lazy) {
      const least = most(set, at, min, min);
      if (least >= 0) push(pc, least, -2);
      pc += 5;
      return least;
    }
    const end = most(set, at, min, max);
    pc += 5;
    if (end < 0 || way === WAYS.possessive) return end;
    const least = min === 0 ? at : skip(at, min);
    if (end > least) push(pc, end, least);
    return end;
  }

  /** Where the program from `start` ends; -1: it fails. Leaves nothing on the stack. */
  function run(start: number, from: number): number {
    const base = top;
    let at = from;
    pc = start;
    for (;;) {
      if (stepsLeft-- < 0) throw new RegexStepsError();
      const op = code[pc]!;
      if (op === OP.match) {
        top = base;
        return at;
      }
      at = perform(op, at);
      if (at >= 0) continue;
      if (!goBack(base)) return -1;
      at = place;
    }
  }

  /** One instruction: sets `pc` to the next and returns the new place, or -1. */
  function perform(op: number, at: number): number {
    switch (op) {
      case OP.set:
        pc += 2;
        return step(code[pc - 1]!, at);
      case OP.jump:
        pc = code[pc + 1]!;
        return at;
      case OP.split:
        push(code[pc + 1]!, at, NO_LOOP);
        pc += 2;
        return at;
      case OP.guard:
        pc = step(code[pc + 1]!, at) < 0 ? code[pc + 2]! : pc + 3;
        return at;
      case OP.loop:
        return loop(at);
      case OP.assert:
        pc += 2;
        return asserts(code[pc - 1]!, at) ? at : -1;
      case OP.enter:
        push(-code[pc + 1]! - 1, remembered[code[pc + 1]!]!, NO_LOOP);
        remembered[code[pc + 1]!] = at;
        pc += 2;
        return at;
      case OP.check:
        pc = remembered[code[pc + 1]!] === at ? code[pc + 2]! : pc + 3;
        return at;
      case OP.back:
        pc += 2;
        return back(at, code[pc - 1]!);
      default:
        return performInside(op, at);
    }
  }

  function performInside(op: number, at: number): number {
    const here = pc;
    const negative = code[here + 1] === 1;
    const inside = op === OP.atomic ? here + 2 : here + 3;
    const end = run(inside, at);
    pc = code[inside - 1]!;
    if (op === OP.atomic) return end;
    return end < 0 === negative ? at : -1;
  }

  const isWord = (at: number): boolean => at >= 0 && at < text.length && SHORTHANDS.w!(text.codePointAt(at)!);

  function asserts(which: number, at: number): boolean {
    const { length } = text;
    switch (ASSERTIONS[which]!) {
      case 'line start':
        return at === 0 || (text[at - 1] === '\n' && at < length);
      case 'line end':
        return at === length || text[at] === '\n';
      case 'text start':
        return at === 0;
      case 'text end':
        return at === length;
      case 'last line end':
        return at === length || (at === length - 1 && text[at] === '\n');
      case 'word edge':
        return isWord(back(at, 1)) !== isWord(at);
      case 'no edge':
        return isWord(back(at, 1)) === isWord(at);
    }
  }

  return {
    begin(searched) {
      text = searched;
      stepsLeft = Math.min(STEPS.base + STEPS.perUnit * searched.length, ENDLESS);
    },
    end(searched, at) {
      text = searched;
      top = 0;
      return run(0, at);
    },
  };
}
