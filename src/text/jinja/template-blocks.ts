// The blocks of a template: `{% block a %}` writes itself where it stands, and `self.a()` writes it again. Knows which variables a block
// reads, and not how its body is run.
import { TemplateError } from './errors.ts';
import { Scope } from './scope.ts';
import type { Block, TemplateBlock } from './syntax.ts';
import { Callable, Undefined, type Value } from './values.ts';

export class TemplateBlocks {
  readonly #blocks: ReadonlyMap<string, TemplateBlock>;
  readonly #write: (body: Block, scope: Scope) => string;

  /** `write` runs the body of a block, and returns its text. */
  constructor(blocks: readonly TemplateBlock[], write: (body: Block, scope: Scope) => string) {
    this.#blocks = new Map(blocks.map((block) => [block.name, block]));
    this.#write = write;
  }

  /** `read`: the variables that the block reads. Those that it sets are its own. */
  run({ body }: TemplateBlock, read: Scope): string {
    const scope = new Scope(read);
    scope.set('self', this.selfIn(read));
    return this.#write(body, scope);
  }

  /** `self`, with the blocks as its attributes. */
  selfIn(read: Scope): Callable {
    const attribute = (name: string): Value | undefined => {
      const block = this.#blocks.get(name);
      return block && this.#reference(block, read);
    };
    return new Callable(
      'self',
      () => notCallable(),
      attribute,
      () => '<TemplateReference None>',
    );
  }

  #reference(block: TemplateBlock, read: Scope): Callable {
    const call = (given: readonly Value[], named: ReadonlyMap<string, Value>): Value => {
      if (given.length + named.size > 0) throw new TemplateError(`the block ${block.name} takes no arguments`);
      return this.run(block, read);
    };
    const attribute = (name: string): Value | undefined => {
      if (name === 'name') return block.name;
      return name === 'super' ? new Undefined(`there is no parent block called '${block.name}'.`) : undefined;
    };
    return new Callable(block.name, call, attribute);
  }
}

function notCallable(): never {
  throw new TemplateError("'TemplateReference' object is not callable");
}
