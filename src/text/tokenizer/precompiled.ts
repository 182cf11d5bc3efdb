// SentencePiece's own normalization, which a tokenizer.json holds as a double-array trie of bytes and the texts it leads to
// (`precompiled_charsmap`). As in the crate spm_precompiled, with its peculiarities: the shortest prefix counts, and replaces all.
import { changeText, type AlignedText, type Changes } from './aligned-text.ts';

export interface Precompiled {
  readonly normalize: (from: AlignedText) => AlignedText;
}

/** Null: the map cannot be read. */
export function readPrecompiled(map: Buffer): Precompiled | null {
  if (map.length < 4) return null;
  const bytes = map.readUInt32LE(0);
  if (bytes % 4 !== 0 || bytes === 0 || 4 + bytes > map.length) return null;
  const trie = Uint32Array.from({ length: bytes / 4 }, (_, i) => map.readUInt32LE(4 + 4 * i));
  const texts = map.subarray(4 + bytes);
  const known = new Map<string, string | null>();

  function lookUp(part: string): string | null {
    let found = known.get(part);
    if (found === undefined) {
      const at = shortestPrefix(trie, Buffer.from(part));
      const end = at === null ? -1 : texts.indexOf(0, at);
      found = at === null ? null : texts.toString('utf8', at, end < 0 ? texts.length : end);
      if (known.size < 10_000) known.set(part, found);
    }
    return found;
  }

  return {
    normalize(from) {
      const changed: Changes = { characters: [], changes: [] };
      let modified = false;
      for (const grapheme of graphemes(from.text)) {
        const whole = Buffer.byteLength(grapheme) < 6 ? lookUp(grapheme) : null;
        for (const part of whole === null ? grapheme : [grapheme]) {
          const to = whole ?? lookUp(part);
          modified ||= to !== null;
          replace(changed, part, to ?? part);
        }
      }
      return modified ? changeText(from, changed) : from;
    },
  };
}

/** What the shortest key that begins `key` leads to; null: none does. */
function shortestPrefix(trie: Uint32Array, key: Buffer): number | null {
  let at = offsetOf(trie[0]!);
  for (const byte of key) {
    if (byte === 0) break;
    at ^= byte;
    const unit = trie[at];
    if (unit === undefined || (unit & 0x800000ff) >>> 0 !== byte) return null;
    at ^= offsetOf(unit);
    if ((unit >>> 8) & 1) return trie[at]! & 0x7fffffff;
  }
  return null;
}

const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6);

function replace({ characters, changes }: Changes, part: string, to: string): void {
  const written = Array.from(to);
  const more = written.length - Array.from(part).length;
  for (const [i, character] of written.entries()) {
    characters.push(character);
    changes.push(i >= written.length - more ? 1 : 0);
  }
  if (more < 0 && changes.length > 0) changes[changes.length - 1]! += more;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** ASCII characters are graphemes of their own, unless something joins them. */
function* graphemes(text: string): Generator<string> {
  const parts = /[\t -~]+(?![^\0-\x7f])|[^]+?(?:[\t -~](?=[\t -~])|$)/gu;
  for (const [part] of text.matchAll(parts)) {
    if (/^[\t -~]+$/.test(part)) yield* part;
    else for (const { segment } of segmenter.segment(part)) yield segment;
  }
}
