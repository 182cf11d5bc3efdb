// The variable `loop` of a for loop. As in Jinja, the next item is taken only when it is the turn of it, or when something asks for it: a
// loop's condition sees what the body has changed.
import type { Budget } from './budget.ts';
import { isEqual } from './compare.ts';
import { TemplateError } from './errors.ts';
import { Callable, found, type Value } from './values.ts';

export class Loop {
  readonly #source: Iterator<Value>;
  readonly #depth: number;
  readonly #budget: Budget;
  /** Taken from the source so far; the current one is at `#at`. */
  readonly #items: Value[] = [];
  #at = -1;
  #seen: readonly Value[] | null = null;
  readonly variable: Callable;

  /** `again` runs a recursive loop over other items; null: the loop is not recursive. */
  constructor(source: Iterator<Value>, depth: number, again: ((items: Value) => Value) | null, budget: Budget) {
    this.#source = source;
    this.#depth = depth;
    this.#budget = budget;
    const call = ([given]: readonly Value[]): Value => {
      if (again === null)
        throw new TemplateError("The loop must have the 'recursive' marker to be called recursively.");
      return again(found(given, 'loop() needs items'));
    };
    const text = () => `<LoopContext ${this.#at + 1}/${this.#length()}>`;
    this.variable = new Callable('loop', call, (name) => this.#attribute(name), text);
  }

  /** Undefined: there is no more. */
  next(): Value | undefined {
    return this.#item(++this.#at);
  }

  #item(at: number): Value | undefined {
    while (this.#items.length <= at) {
      const { done, value } = this.#source.next() as IteratorResult<Value, undefined>;
      if (done) return undefined;
      this.#items.push(value);
    }
    return this.#items[at];
  }

  #length(): number {
    this.#item(Infinity);
    return this.#items.length;
  }

  #attribute(name: string): Value | undefined {
    const at = this.#at;
    switch (name) {
      case 'index':
        return at + 1;
      case 'index0':
        return at;
      case 'revindex':
        return this.#length() - at;
      case 'revindex0':
        return this.#length() - at - 1;
      case 'first':
        return at === 0;
      case 'last':
        return this.#item(at + 1) === undefined;
      case 'length':
        return this.#length();
      case 'depth':
        return this.#depth;
      case 'depth0':
        return this.#depth - 1;
      case 'previtem':
        return found(this.#items[at - 1], 'there is no previous item');
      case 'nextitem':
        return found(this.#item(at + 1), 'there is no next item');
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
