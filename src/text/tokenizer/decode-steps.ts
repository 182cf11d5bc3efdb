// The steps of a decoder, one token at a time: pushing tokens and then ending gives the same as the library `tokenizers` gives for the whole
// list. One exception is meant: a character is written when its last byte token arrives, even if a malformed byte follows, for which the
// library would take back the whole run of bytes.

/** Works on one text. `push` returns the tokens that are certain now; `end` what was held back. */
export interface DecodeStep {
  readonly push: (token: string) => readonly string[];
  readonly end: () => readonly string[];
}

const NOTHING: readonly string[] = [];

/** Remembers what became of each token. Not more tokens occur than the vocabulary has. */
function remembering<T>(change: (token: string) => T): (token: string) => T {
  const known = new Map<string, T>();
  return (token) => {
    let changed = known.get(token);
    if (changed === undefined) known.set(token, (changed = change(token)));
    return changed;
  };
}

/** Each token becomes another, whatever stands beside it. */
export function each(change: (token: string) => string): () => DecodeStep {
  const push = remembering((token): readonly string[] => [change(token)]);
  return () => ({ push, end: () => NOTHING });
}

/** Like `each`, but the first token is another case. */
export const eachAfterFirst =
  (first: (token: string) => string, others: (token: string) => string) => (): DecodeStep => {
    let isFirst = true;
    return {
      push(token) {
        const changed = isFirst ? first(token) : others(token);
        isFirst = false;
        return [changed];
      },
      end: () => NOTHING,
    };
  };

/** `bytesOf`: what a token is as bytes of UTF-8. */
export function decodeBytes(bytesOf: (token: string) => Uint8Array): () => DecodeStep {
  const read = remembering((token) => {
    const bytes = bytesOf(token);
    return { bytes, text: bytes.every((byte) => byte < 0x80) ? [String.fromCharCode(...bytes)] : null };
  });
  return () => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let isWhole = true; // no character has begun
    return {
      push(token) {
        const { bytes, text } = read(token);
        if (isWhole && text) return text;
        isWhole = bytes.length > 0 ? bytes.at(-1)! < 0x80 : isWhole;
        return [decoder.decode(bytes, { stream: true })];
      },
      end: () => [decoder.decode()],
    };
  };
}

/** `<0x41>` → 0x41; null: the token is no byte. */
export function byteOf(token: string): number | null {
  const found = token.length === 6 ? /^<0x([0-9A-Fa-f]{2})>$/.exec(token) : null;
  return found ? parseInt(found[1]!, 16) : null;
}

const REPLACEMENT = '\ufffd';

/** Runs of byte tokens become characters; bytes that are none become a U+FFFD each. */
export const decodeByteTokens = (): DecodeStep => {
  let pending: number[] = []; // the beginning of a character
  const giveUp = () => {
    const written = REPLACEMENT.repeat(pending.length);
    pending = [];
    return written === '' ? [] : [written];
  };
  return {
    push(token) {
      const byte = byteOf(token);
      if (byte === null) return pending.length === 0 ? [token] : [...giveUp(), token];
      const isMore = pending.length > 0 && goesOn(pending, byte);
      const before = isMore ? [] : giveUp();
      if (!isMore && lengthOf(byte) === 0) return [...before, REPLACEMENT];
      pending.push(byte);
      if (pending.length < lengthOf(pending[0]!)) return before;
      const character = Buffer.from(pending).toString('utf8');
      pending = [];
      return [...before, character];
    },
    end: giveUp,
  };
};

/** Bytes of the character that begins with a byte; 0: none does. */
const lengthOf = (byte: number): number =>
  byte < 0x80 ? 1 : byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0;

/** The second byte is limited further after some first ones: no long forms, no surrogates, nothing beyond U+10FFFF. */
function goesOn(pending: readonly number[], byte: number): boolean {
  const first = pending.length === 1 ? pending[0] : null;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  return byte >= least && byte <= most;
}

/** Removes a character from the ends of each token. */
export const stripEach = (content: string, start: number, stop: number) =>
  each((token) => {
    const characters = Array.from(token);
    let [first, end] = [0, characters.length];
    while (first < Math.min(start, characters.length) && characters[first] === content) first++;
    while (end > first && characters.length - end < stop && characters[end - 1] === content) end--;
    return characters.slice(first, end).join('');
  });

/** The same for the whole text, after its tokens were joined. */
export const stripWhole = (content: string, start: number, stop: number) => (): DecodeStep => {
  let atStart = start; // still to be removed
  let trailing = ''; // copies of the character at the end, which may have to go
  return {
    push(token) {
      let text = token;
      while (atStart > 0 && text.startsWith(content)) {
        text = text.slice(content.length);
        atStart--;
      }
      if (text !== '') atStart = 0;
      text = trailing + text;
      let end = text.length;
      while (end > 0 && text.length - end < stop * content.length && text.endsWith(content, end)) end -= content.length;
      trailing = text.slice(end);
      return [text.slice(0, end)];
    },
    end: () => NOTHING,
  };
};

/** In all tokens but the last, a suffix is a space. */
export const spaceAtSuffix = (suffix: string) => (): DecodeStep => {
  let waiting: string | null = null; // a token with suffixes, until another follows
  return {
    push(token) {
      const before = waiting === null ? NOTHING : [waiting.replaceAll(suffix, ' ')];
      waiting = suffix !== '' && token.includes(suffix) ? token : null;
      return waiting === null ? [...before, token] : before;
    },
    end: () => (waiting === null ? NOTHING : [waiting.replaceAll(suffix, '')]),
  };
};

/** Of equal tokens beside each other, only the first counts; a blank is nothing. */
export const collapse = (blank: string, clean: (token: string) => string) => (): DecodeStep => {
  let last: string | null = null;
  return {
    push(token) {
      if (token === last) return NOTHING;
      last = token;
      const written = clean(token.replaceAll(blank, ''));
      return written === '' ? NOTHING : [written];
    },
    end: () => NOTHING,
  };
};

const CLEANED: readonly (readonly [string, string])[] = [
  [' .', '.'],
  [' ?', '?'],
  [' !', '!'],
  [' ,', ','],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [' do not', " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];

export const cleanUp = (token: string): string =>
  CLEANED.reduce((text, [from, to]) => text.replaceAll(from, to), token);
