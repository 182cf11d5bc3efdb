// Characters that a name must not have, and that a terminal must not get: control characters, and those that turn the direction of writing
// (Unicode's bidi controls), with which one name looks like another.

const UNSEEN = String.raw`\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`;

const IN_NAMES = new RegExp(`[${UNSEEN}]`);

export const hasUnseenCharacters = (name: string): boolean => IN_NAMES.test(name);

export const UNSEEN_PROBLEM = 'must not contain control characters, or characters that change the direction of writing';

/** Whether the name is shown as it is, and can be a segment of a path: `.` and `..` are resolved there. */
export const isPlainName = (name: string): boolean => !hasUnseenCharacters(name) && name !== '.' && name !== '..';

export const NOT_PLAIN = `must not be . or .., and ${UNSEEN_PROBLEM}`;

/** Those that a text of several lines must not have; tab and line break are none of them. */
const IN_TEXT = new RegExp(`(?![\\t\\n])[${UNSEEN}]`, 'g');

/** `\u001b` in place of the character: in JSON it means the same. */
export const escapeUnseen = (text: string): string =>
  text.replace(IN_TEXT, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
