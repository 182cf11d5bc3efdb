// JSON as scripts log it. Python writes bare NaN and Infinity, which other parsers reject: they are shown as strings, as the library's
// own server does.

const BARE = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;

/** The same text with bare NaN and Infinity in quotes. */
export const quoteBare = (text: string): string =>
  /NaN|Infinity/.test(text) ? text.replace(BARE, (token) => (token.startsWith('"') ? token : `"${token}"`)) : text;

/** As for bodies of requests: what is read here is written again, compared and shown by functions that recurse. */
const DEPTH_MAX = 128;

function isDeep(text: string): boolean {
  let [depth, quoted] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted && character === '\\') at++;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '{' || character === '[') {
      if (++depth > DEPTH_MAX) return true;
    } else if (character === '}' || character === ']') depth--;
  }
  return false;
}

/** Returns undefined if it is not JSON, or nested too deeply. */
function readLogged(text: string): unknown {
  if (isDeep(text)) return undefined;
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
