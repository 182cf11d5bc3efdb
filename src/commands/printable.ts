// Text of a server on a terminal: names, events, errors and answers may hold characters that move the cursor, change colours or turn the
// direction of writing. They are shown as escapes. Into files and pipes the text goes as it is.
import { UNSEEN_IN_TEXT } from '#domain/unseen-characters';

/** `\u001b` in place of the character: in JSON it means the same. */
export const printable = (text: string): string =>
  text.replace(UNSEEN_IN_TEXT, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const writeTo = (stream: NodeJS.WriteStream, text: string): void =>
  void stream.write(stream.isTTY ? printable(text) : text);

export const writeOut = (text: string): void => writeTo(process.stdout, text);

export const writeError = (text: string): void => writeTo(process.stderr, text);
