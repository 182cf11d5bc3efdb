// Reads answers of a server that is not trusted: at most so many bytes, decompressed; JSON, and an object or a list. What the fields hold is
// not checked here: callers check what they would write to a disk.
import { chunksOf } from './chunks.ts';

/** The server's answer is not one that a Whetstone server gives, or it is too long. Asking again would not help. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** The text of a body. Throws AnswerError, and ends the connection, after `bytesMax` bytes. */
export async function readText(response: Response, bytesMax: number): Promise<string> {
  const { text, isWhole } = await readStart(response, bytesMax);
  if (!isWhole)
    throw new AnswerError(
      `The answer has more than ${bytesMax} bytes. If it may be that long, raise answerBytesMax of createClient.`,
    );
  return text;
}

/** The text up to about `bytesMax` bytes; the connection ends there. */
export async function readStart({ body }: Response, bytesMax: number): Promise<{ text: string; isWhole: boolean }> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for await (const chunk of body ? chunksOf(body) : []) {
    size += chunk.length;
    if (size > bytesMax) return { text: parts.join(''), isWhole: false }; // leaving the loop ends the connection
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return { text: parts.join('') + decoder.decode(), isWhole: true };
}

/** Throws AnswerError unless the text is the JSON of an object or a list. */
export function parseAnswer<T>(text: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AnswerError(`The answer is not JSON. It begins with ${start(text)}.`, { cause: error });
  }
  if (!isObject(value)) throw new AnswerError(`The answer is neither a JSON object nor a list: ${start(text)}.`);
  return value as T;
}

export const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Without characters that would move a terminal's cursor, change colours or turn the direction of writing. */
export const visible = (text: string): string => text.replace(/(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]+/gu, ' ');

const SHOWN = 100;
const start = (text: string): string => JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
