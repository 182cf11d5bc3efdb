// Variables of a template: a loop, a macro and a with block have their own, and read those around them. A `{% block %}` reads only those of
// the template itself, as in Jinja2, unless it is `scoped`.
import { TemplateError } from './errors.ts';
import type { Target } from './syntax.ts';
import { itemsOf, Namespace, type Value } from './values.ts';

export class Scope {
  readonly #variables = new Map<string, Value>();
  readonly #around: Scope | null;
  /** What a block that stands here reads. */
  readonly blockScope: Scope;

  /** `isBlockScope`: blocks that stand here, or below, read this one. */
  constructor(around: Scope | null, isBlockScope = false) {
    this.#around = around;
    this.blockScope = isBlockScope || around === null ? this : around.blockScope;
  }

  get(name: string): Value | undefined {
    const own = this.#variables.get(name);
    return own === undefined ? this.#around?.get(name) : own; // None is a value
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }

  /** Assigns to a name, to several (unpacking the value), or to an item of a namespace. */
  assign(target: Target, value: Value): void {
    if (target.type === 'Name') return this.set(target.name, value);
    if (target.type === 'NamespaceItem') {
      const namespace = this.get(target.namespace);
      if (!(namespace instanceof Namespace)) throw new TemplateError('cannot assign attribute on non-namespace object');
      namespace.attributes.set(target.name, value);
      return;
    }
    const items = itemsOf(value);
    const wanted = target.items.length;
    if (items.length > wanted) throw new TemplateError(`too many values to unpack (expected ${wanted})`);
    if (items.length < wanted)
      throw new TemplateError(`not enough values to unpack (expected ${wanted}, got ${items.length})`);
    target.items.forEach((each, i) => this.assign(each, items[i]!));
  }
}
