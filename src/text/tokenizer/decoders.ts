// Decoders of a tokenizer.json: from tokens back to text, as they arrive. Knows tokens by their spelling, not by their id.
import { fromByteLevel } from './byte-level.ts';
import {
  byteOf,
  cleanUp,
  collapse,
  decodeBytes,
  decodeByteTokens,
  each,
  eachAfterFirst,
  spaceAtSuffix,
  stripEach,
  stripWhole,
  type DecodeStep,
} from './decode-steps.ts';
import { fieldsOf, flatten, type Fields } from './fields.ts';
import { readPattern } from './patterns.ts';
import { readPrependScheme } from './pre-tokenizers.ts';

export interface Decoder {
  /** For one text. */
  readonly begin: () => TextStream;
  /** The bytes that a token adds inside a text, neither at its beginning nor at its end. */
  readonly bytesInside: (token: string) => Uint8Array;
}

export interface TextStream {
  readonly push: (token: string) => string;
  readonly end: () => string;
}

interface Kind {
  readonly begin: () => DecodeStep;
  /** Joins tokens, so that those after it see one text. */
  readonly joins?: boolean;
}

/** Throws `bad_model_files`. Without a decoder, tokens stand with spaces between them. */
export function readDecoder(value: unknown): Decoder {
  const isGiven = (value ?? null) !== null;
  const parts = isGiven ? flatten(fieldsOf(value, 'decoder'), 'decoders') : [];
  const kinds: Kind[] = isGiven ? [] : [SPACED];
  for (const fields of parts) {
    const isJoined = kinds.some(({ joins }) => joins === true);
    const table = isJoined ? WHOLE_KINDS : KINDS;
    if (!Object.hasOwn(table, fields.type))
      throw fields.refuse(
        `has the type ${JSON.stringify(fields.type)}; ${isJoined ? 'after tokens were joined, ' : ''}known are ${Object.keys(table).join(', ')}`,
      );
    kinds.push(table[fields.type]!(fields));
  }
  const types = parts.map(({ type }) => type);
  return {
    begin: () => streamOf(kinds.map((kind) => kind.begin())),
    bytesInside: bytesInside(kinds, types),
  };
}

const SPACED: Kind = {
  begin: eachAfterFirst(
    (token) => token,
    (token) => ` ${token}`,
  ),
};

const KINDS: Readonly<Record<string, (fields: Fields) => Kind>> = {
  ByteLevel: () => ({ begin: decodeBytes(fromByteLevel), joins: true }),
  ByteFallback: () => ({ begin: decodeByteTokens }),
  Fuse: () => ({ begin: each((token) => token), joins: true }),
  Metaspace: readMetaspace,
  Replace: readReplace,
  Strip: (fields) => ({ begin: stripEach(...readStrip(fields)) }),
  WordPiece: readWordPiece,
  BPEDecoder: (fields) => ({ begin: spaceAtSuffix(fields.text('suffix')) }),
  CTC: readCtc,
};

/** What can follow when the tokens are one text already. */
const WHOLE_KINDS: typeof KINDS = {
  Fuse: () => ({ begin: each((token) => token) }),
  Strip: (fields) => ({ begin: stripWhole(...readStrip(fields)) }),
};

const readStrip = (fields: Fields): [string, number, number] => [
  fields.character('content'),
  fields.count('start'),
  fields.count('stop'),
];

function readReplace(fields: Fields): Kind {
  const find = readPattern(fields);
  const content = fields.text('content');
  const replace = (token: string) =>
    token === ''
      ? ''
      : find(token)
          .map(({ from, to, isMatch }) => (isMatch ? content : token.slice(from, to)))
          .join('');
  return { begin: each(replace) };
}

function readMetaspace(fields: Fields): Kind {
  const mark = fields.character('replacement');
  const inside = (token: string) => token.replaceAll(mark, ' ');
  const isPrepended = readPrependScheme(fields) !== 'never';
  return { begin: eachAfterFirst(isPrepended ? (token) => token.replaceAll(mark, '') : inside, inside) };
}

function readWordPiece(fields: Fields): Kind {
  const prefix = fields.text('prefix');
  const clean = fields.flag('cleanup') ? cleanUp : (token: string) => token;
  const inside = (token: string) => clean(token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`);
  return { begin: eachAfterFirst(clean, inside) };
}

function readCtc(fields: Fields): Kind {
  const delimiter = fields.text('word_delimiter_token');
  const clean = fields.flag('cleanup')
    ? (token: string) => cleanUp(token).replaceAll(delimiter, ' ')
    : (token: string) => token;
  return { begin: collapse(fields.text('pad_token'), clean) };
}

function streamOf(steps: readonly DecodeStep[]): TextStream {
  /** Gives tokens to the steps from one on. */
  function through(tokens: readonly string[], from: number): readonly string[] {
    let passed = tokens;
    for (let i = from; i < steps.length; i++) {
      const { push } = steps[i]!;
      passed = passed.length === 1 ? push(passed[0]!) : passed.flatMap(push);
    }
    return passed;
  }
  return {
    push(token) {
      const texts = through([token], 0);
      return texts.length === 1 ? texts[0]! : texts.join('');
    },
    end: () => steps.map((step, i) => through(step.end(), i + 1).join('')).join(''),
  };
}

const utf8 = new TextEncoder();

/** Stand before and behind a token, to see what it adds between others. No token of a vocabulary is like them. */
const [BEFORE, BEHIND] = ['\u{f0000}', '\u{f0001}'];

/** What a token adds to the text of these steps. */
function textInside(kinds: readonly Kind[]): (token: string) => string {
  const stream = streamOf(kinds.map((kind) => kind.begin()));
  stream.push(BEFORE);
  const gap = stream.push(BEHIND).length; // a step may put a space before each token
  return (token) => {
    stream.push(BEFORE);
    const text = stream.push(token) + stream.push(BEHIND);
    return text.slice(0, text.length - gap);
  };
}

function bytesInside(kinds: readonly Kind[], types: readonly string[]): Decoder['bytesInside'] {
  const byteLevel = types.indexOf('ByteLevel');
  const inside = textInside(byteLevel < 0 ? kinds : kinds.slice(0, byteLevel));
  if (byteLevel >= 0) return (token) => fromByteLevel(byteLevel === 0 ? token : inside(token));
  const hasByteTokens = types.includes('ByteFallback');
  return (token) => {
    const byte = hasByteTokens ? byteOf(token) : null;
    return byte !== null ? Uint8Array.of(byte) : utf8.encode(inside(token));
  };
}
