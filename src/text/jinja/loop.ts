// The variable `loop` of a for loop.
import type { Budget } from './budget.ts';
import { isEqual } from './compare.ts';
import { TemplateError } from './errors.ts';
import { Callable, found, type Value } from './values.ts';

export class Loop {
  readonly #items: readonly Value[];
  readonly #depth: number;
  readonly #budget: Budget;
  #at = -1;
  #seen: readonly Value[] | null = null;
  readonly variable: Callable;

  /** `again` runs a recursive loop over other items; null: the loop is not recursive. */
  constructor(items: readonly Value[], depth: number, again: ((items: Value) => Value) | null, budget: Budget) {
    this.#items = items;
    this.#depth = depth;
    this.#budget = budget;
    const call = ([given]: readonly Value[]): Value => {
      if (again === null)
        throw new TemplateError("The loop must have the 'recursive' marker to be called recursively.");
      return again(found(given, 'loop() needs items'));
    };
    this.variable = new Callable('loop', call, (name) => this.#attribute(name));
  }

  next(): void {
    this.#at++;
  }

  #attribute(name: string): Value | undefined {
    const [at, length] = [this.#at, this.#items.length];
    switch (name) {
      case 'index':
        return at + 1;
      case 'index0':
        return at;
      case 'revindex':
        return length - at;
      case 'revindex0':
        return length - at - 1;
      case 'first':
        return at === 0;
      case 'last':
        return at === length - 1;
      case 'length':
        return length;
      case 'depth':
        return this.#depth;
      case 'depth0':
        return this.#depth - 1;
      case 'previtem':
        return found(this.#items[at - 1], 'there is no previous item');
      case 'nextitem':
        return found(this.#items[at + 1], 'there is no next item');
      case 'cycle':
        return new Callable(name, (values) => {
          if (values.length === 0) throw new TemplateError('no items for cycling given');
          return values[at % values.length]!;
        });
      case 'changed':
        return new Callable(name, (values) => this.#changed(values));
      default:
        return undefined;
    }
  }

  #changed(values: readonly Value[]): boolean {
    const before = this.#seen;
    this.#seen = values;
    return (
      before === null ||
      before.length !== values.length ||
      values.some((value, i) => !isEqual(value, before[i]!, this.#budget))
    );
  }
}
