// Byte-level BPE (Sennrich et al., arXiv:1508.07909, on GPT-2's printable bytes): training merges, and encoding with
// them. Encoding remembers every word it has seen, because the corpus repeats a small vocabulary millions of times.
// The service has an encoder of its own (src/text/tokenizer); test/engine/starter/tokenizer.test.ts holds both to the same ids.

/** How text is cut into words before merging: letters with one leading mark, digits one at a time, marks, white space. */
export const WORD_PATTERN =
  '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

export type Merge = readonly [left: string, right: string];

const words = new RegExp(WORD_PATTERN, 'gu');

export function splitWords(text: string): string[] {
  return text.match(words) ?? [];
}

/** One printable character for each of the 256 bytes, as in GPT-2. */
export function byteAlphabet(): string[] {
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
}

const alphabet = byteAlphabet();

function asByteCharacters(word: string): string[] {
  return [...new TextEncoder().encode(word)].map((byte) => alphabet[byte]!);
}

/** The most frequent pair first, the alphabetically first among equals; stops early when no pair occurs twice. */
export function trainMerges(wordCounts: ReadonlyMap<string, number>, mergeCountMax: number): Merge[] {
  const entries = [...wordCounts].map(([word, count]) => ({ symbols: asByteCharacters(word), count }));
  const merges: Merge[] = [];
  while (merges.length < mergeCountMax) {
    const best = mostFrequentPair(entries);
    if (!best) break;
    merges.push(best);
    for (const entry of entries) entry.symbols = mergePair(entry.symbols, best);
  }
  return merges;
}

function mostFrequentPair(entries: readonly { symbols: string[]; count: number }[]): Merge | null {
  const counts = new Map<string, number>();
  for (const { symbols, count } of entries) {
    for (let i = 1; i < symbols.length; i++) {
      const pair = `${symbols[i - 1]} ${symbols[i]}`; // a space is never a byte character
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let best: string | null = null;
  let bestCount = 1;
  for (const [pair, count] of counts) {
    if (count > bestCount || (count === bestCount && best !== null && pair < best)) [best, bestCount] = [pair, count];
  }
  return best === null ? null : (best.split(' ') as [string, string]);
}

function mergePair(symbols: string[], [left, right]: Merge): string[] {
  const merged: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) merged.push(left + symbols[++i]!);
    else merged.push(symbols[i]!);
  }
  return merged;
}

export type Encode = (text: string) => readonly number[];

/** For text without added tokens. */
export function createEncoder(vocabulary: Readonly<Record<string, number>>, merges: readonly Merge[]): Encode {
  const ranks = new Map(merges.map((merge, rank) => [merge.join(' '), rank]));
  const known = new Map<string, readonly number[]>();

  function encodeWord(word: string): readonly number[] {
    let symbols = asByteCharacters(word);
    for (;;) {
      let best = Infinity;
      for (let i = 1; i < symbols.length; i++) {
        best = Math.min(best, ranks.get(`${symbols[i - 1]} ${symbols[i]}`) ?? Infinity);
      }
      if (best === Infinity) return symbols.map((symbol) => vocabulary[symbol]!);
      symbols = mergePair(symbols, merges[best]!);
    }
  }

  return (text) =>
    splitWords(text).flatMap((word) => {
      let ids = known.get(word);
      if (!ids) known.set(word, (ids = encodeWord(word)));
      return ids;
    });
}
