// JSON as scripts log it. Python writes bare NaN and Infinity, which other parsers reject: they are shown as strings, as the library's
// own server does.
import { isObject } from '#base/is-object';
import { checkJsonShape, createShapeBudget, ShapeError, type Shape, type ShapeBudget } from '#base/json-shape';

const BARE = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;

/** The same text with bare NaN and Infinity in quotes. */
export const quoteBare = (text: string): string =>
  /NaN|Infinity/.test(text) ? text.replace(BARE, (token) => (token.startsWith('"') ? token : `"${token}"`)) : text;

const ANY_SHAPE: Shape = { valuesMax: Infinity, keysMax: Infinity };

/** Returns undefined if it is not JSON, or nested more deeply than a body may be: what is read is compared and shown by functions that recurse. */
function readLogged(text: string, budget: ShapeBudget): unknown {
  try {
    checkJsonShape(text, budget);
    return JSON.parse(quoteBare(text)) as unknown;
  } catch (error) {
    if (error instanceof ShapeError && error.of !== 'depth') throw error;
    return undefined;
  }
}

/** Returns null if it is not a JSON object. Throws ShapeError if it is more than the budget has; by default it has no end: what is stored had one. */
export function readLoggedObject(
  text: string,
  budget = createShapeBudget(ANY_SHAPE),
): Readonly<Record<string, unknown>> | null {
  const value = readLogged(text, budget);
  return isObject(value) ? value : null;
}

/** What a script logged under a name: objects inside objects are named `outer.inner`, as the library names them. Undefined: nothing. */
export function valueAt(row: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name];
  let value: unknown = row;
  for (let from = 0; ;) {
    const dot = name.indexOf('.', from);
    const part = name.slice(from, dot < 0 ? undefined : dot);
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
    if (dot < 0) return value;
    from = dot + 1;
  }
}
