// A value from somebody's file as an error message shows it: short, whatever it is.

const CHARACTERS_MAX = 200;

export function shown(value: unknown): string {
  const text = stringified(value);
  return text.length <= CHARACTERS_MAX ? text : `${text.slice(0, CHARACTERS_MAX)}…`;
}

function stringified(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return 'a deeply nested value'; // JSON.stringify recurses, JSON.parse does not
  }
}
