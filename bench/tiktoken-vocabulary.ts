// A vocabulary of the size that large models have: Qwen's, from the Python package dashscope, whose wheel contains it as a file of byte
// strings in order of id.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { VocabularyBytes } from '#grammar/thread-messages';

const WHERE =
  'import importlib.util, pathlib; ' +
  'print(pathlib.Path(importlib.util.find_spec("dashscope").origin).parent / "resources" / "qwen.tiktoken")';

export interface TiktokenVocabulary {
  readonly path: string;
  readonly vocabulary: VocabularyBytes;
  /** Includes the end-of-text token, which is the last one and has no bytes. */
  readonly size: number;
  readonly end: number;
  /** Greedy, longest match first: differs from the model's own tokenizer, but is the same for all engines compared. */
  readonly tokenize: (text: string) => number[];
}

export async function readTiktoken(python: string): Promise<TiktokenVocabulary> {
  const path = execFileSync(python, ['-c', WHERE], { encoding: 'utf8' }).trim();
  const lines = (await readFile(path, 'latin1')).trim().split('\n');
  const tokens = lines.map((line) => Buffer.from(line.slice(0, line.indexOf(' ')), 'base64'));
  const end = tokens.length;
  const offsets = new Uint32Array(end + 2);
  tokens.forEach((token, id) => (offsets[id + 1] = offsets[id]! + token.length));
  offsets[end + 1] = offsets[end]!;
  const ids = new Map(tokens.map((token, id) => [token.toString('latin1'), id]));
  const longest = tokens.reduce((most, { length }) => Math.max(most, length), 0);

  function tokenize(text: string): number[] {
    const bytes = Buffer.from(text).toString('latin1');
    const found: number[] = [];
    for (let at = 0; at < bytes.length;) {
      let length = Math.min(longest, bytes.length - at);
      while (!ids.has(bytes.slice(at, at + length))) length--; // every byte is a token
      found.push(ids.get(bytes.slice(at, at + length))!);
      at += length;
    }
    return found;
  }
  return { path, vocabulary: { bytes: new Uint8Array(Buffer.concat(tokens)), offsets }, size: end + 1, end, tokenize };
}
