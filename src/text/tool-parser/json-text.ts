// Text that goes into a JSON string piece by piece. Halves of surrogate pairs are kept, because the other half follows.

const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

/** Without the quotes around it. */
export const jsonText = (text: string): string =>
  NEEDS_ESCAPE.test(text) ? text.replace(/["\\\u0000-\u001f]/g, escaped) : text;

const escaped = (character: string): string => JSON.stringify(character).slice(1, -1);
