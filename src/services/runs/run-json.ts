// JSON as scripts log it. Python writes bare NaN and Infinity, which other parsers reject: they are shown as strings, as the library's
// own server does.
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
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}
