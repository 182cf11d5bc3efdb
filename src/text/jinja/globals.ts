// The functions of Jinja that every template has: range, dict, namespace, cycler and joiner. lipsum is random, so it is refused.
import type { Budget } from './budget.ts';
import { TemplateError } from './errors.ts';
import { bind, type Given } from './parameters.ts';
import { str } from './texts.ts';
import { asCount, Callable, Dict, itemsOf, Namespace, Range, Tuple, Undefined, type Value } from './values.ts';

/** As Jinja's sandbox: a template must not build a list that fills the memory. */
const RANGE_MAX = 100_000;

function range({ positional }: Given, budget: Budget): Value {
  if (positional.length === 0 || positional.length > 3) throw new TemplateError('range takes one to three numbers');
  const numbers = positional.map(asCount);
  const [start, stop, step] = numbers.length === 1 ? [0, numbers[0]!, 1] : [numbers[0]!, numbers[1]!, numbers[2] ?? 1];
  if (step === 0) throw new TemplateError('range() arg 3 must not be zero');
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > RANGE_MAX)
    throw new TemplateError(`Range too big. The sandbox blocks ranges larger than MAX_RANGE (${RANGE_MAX}).`);
  budget.make(length);
  return new Range(start, stop, step);
}

function pairsInto(set: (key: Value, value: Value) => void, callee: string, { positional, named }: Given): void {
  if (positional.length > 1) throw new TemplateError(`${callee} expected at most 1 argument, got ${positional.length}`);
  const [given] = positional;
  if (given instanceof Undefined) given.fail();
  const pairs = given === undefined ? [] : given instanceof Dict ? given.entries() : itemsOf(given).map(itemsOf);
  for (const pair of pairs) {
    if (pair.length !== 2)
      throw new TemplateError(`${callee} update sequence element has length ${pair.length}; 2 is required`);
    set(pair[0]!, pair[1]!);
  }
  for (const [name, value] of named) set(name, value);
}

function dict(given: Given): Value {
  const made = new Dict();
  pairsInto((key, value) => void made.set(key, value), 'dict', given);
  return made;
}

function namespace(given: Given, budget: Budget): Value {
  const made = new Namespace();
  pairsInto((key, value) => void made.attributes.set(str(key, budget), value), 'namespace', given);
  return made;
}

/** `cycler('a', 'b')`, with `next()`, `current` and `reset()`. */
function cycler({ positional }: Given): Value {
  if (positional.length === 0) throw new TemplateError('at least one item has to be provided');
  let at = 0;
  const step = (): Value => {
    const item = positional[at]!;
    at = (at + 1) % positional.length;
    return item;
  };
  const methods: Readonly<Record<string, () => Value>> = {
    next: () => new Callable('next', step),
    current: () => positional[at]!,
    items: () => new Tuple(positional),
    pos: () => at,
    reset: () => new Callable('reset', () => ((at = 0), null)),
  };
  const missing = () => new Undefined('cycler is not callable').fail();
  return new Callable('cycler', missing, (name) => (Object.hasOwn(methods, name) ? methods[name]!() : undefined));
}

/** `joiner(', ')`: nothing the first time it is called, then its separator. */
function joiner(given: Given): Value {
  const [separator = ', '] = bind('joiner', ['sep'], given);
  let isUsed = false;
  return new Callable('joiner', () => {
    const text = isUsed ? separator : '';
    isUsed = true;
    return text;
  });
}

const GLOBALS: Readonly<Record<string, (given: Given, budget: Budget) => Value>> = {
  range,
  dict,
  namespace,
  cycler,
  joiner,
};

export const globalsFor = (budget: Budget): Map<string, Value> =>
  new Map(
    Object.entries(GLOBALS).map(([name, make]) => [
      name,
      new Callable(name, (positional, named) => make({ positional, named }, budget)),
    ]),
  );
