// JSON as scripts log it. Python writes bare NaN and Infinity, which other parsers reject: they are shown as strings, as the library's
// own server does.

const BARE = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;

/** The same text with bare NaN and Infinity in quotes. */
export const quoteBare = (text: string): string =>
  /NaN|Infinity/.test(text) ? text.replace(BARE, (token) => (token.startsWith('"') ? token : `"${token}"`)) : text;

/** Returns undefined if it is not JSON. */
function readLogged(text: string): unknown {
  try {
    return JSON.parse(quoteBare(text)) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns null if it is not a JSON object. */
export function readLoggedObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = readLogged(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}
