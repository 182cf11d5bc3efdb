// Arguments of functions, methods and filters, found by position or name as Python binds them.
import { TemplateError } from './errors.ts';
import type { Value } from './values.ts';

export interface Given {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** The arguments in the order of `names`; undefined: not given. Throws for too many, unknown and doubled ones, and if fewer than `required`. */
export function bind(
  callee: string,
  names: readonly string[],
  { positional, named }: Given,
  required = 0,
): (Value | undefined)[] {
  if (positional.length > names.length)
    throw new TemplateError(`${callee}() takes at most ${names.length} arguments (${positional.length} given)`);
  const bound: (Value | undefined)[] = names.map((_, i) => positional[i]);
  for (const [name, value] of named) {
    const at = names.indexOf(name);
    if (at < 0) throw new TemplateError(`${callee}() got an unexpected keyword argument '${name}'`);
    if (bound[at] !== undefined) throw new TemplateError(`${callee}() got multiple values for argument '${name}'`);
    bound[at] = value;
  }
  for (let i = 0; i < required; i++)
    if (bound[i] === undefined) throw new TemplateError(`${callee}() is missing the argument '${names[i]}'`);
  return bound;
}
