// What one rendering may cost: steps of the interpreter, and characters that it makes. Bounded here, a template of a request can run in
// the server's own thread: it ends after a fraction of a second, whatever it does.
import { BudgetError } from './errors.ts';

export interface BudgetLimits {
  /** Evaluated nodes, items and arguments; a tenth of a microsecond each. */
  readonly stepsMax: number;
  /** Characters and list items that are made, on the way and in the end. */
  readonly sizeMax: number;
  /** Calls inside calls: macros, recursive loops. */
  readonly depthMax: number;
}

/** Characters that take as long as one step. */
const CHARACTERS_PER_STEP = 16;

export class Budget {
  readonly #limits: BudgetLimits;
  #steps = 0;
  #size = 0;
  #depth = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > this.#limits.stepsMax)
      throw new BudgetError(`It takes more than ${this.#limits.stepsMax} steps.`);
  }

  /** Called before `size` characters or items are made. */
  make(size: number): void {
    this.#size += size;
    if (!(this.#size <= this.#limits.sizeMax))
      throw new BudgetError(`It makes more than ${this.#limits.sizeMax} characters and items.`);
    this.step(size / CHARACTERS_PER_STEP);
  }

  made(text: string): string {
    this.make(text.length);
    return text;
  }

  nested<T>(run: () => T): T {
    if (++this.#depth > this.#limits.depthMax)
      throw new BudgetError(`Its calls are nested more than ${this.#limits.depthMax} deep.`);
    try {
      return run();
    } finally {
      this.#depth--;
    }
  }
}
