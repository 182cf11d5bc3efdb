// The bytes that a token stands for, from the decoder that tokenizer.json describes. There are two common kinds: byte-level BPE writes each
// byte as one printable character; sentencepiece writes text with '▁' for a space and <0xNN> for a byte that no token covers. Both make
// decoding a concatenation of bytes, so that it can be streamed.
import { isObject } from '#base/is-object';
import { BYTE_CHARACTERS } from '#base/byte-characters';
import { AppError } from '#domain/errors';
import type { Json } from './tokenizer-files.ts';

export interface TokenBytes {
  readonly bytesOf: (token: string) => Uint8Array;
  /** Spaces that decoding removes from the start of a whole text: sentencepiece adds one there. */
  readonly leadingSpaces: number;
}

export function createTokenBytes(tokenizer: Json): TokenBytes {
  const decoders = flatten(tokenizer.decoder);
  const kinds = decoders.map((decoder) => String(decoder.type));
  if (kinds.includes('ByteLevel')) return { bytesOf: byteLevelBytes, leadingSpaces: 0 };
  const unknown = kinds.find((kind) => !SENTENCEPIECE_KINDS.has(kind));
  if (unknown !== undefined || kinds.length === 0) {
    const found = unknown === undefined ? 'It has none' : `It has ${unknown}`;
    throw new AppError(
      'bad_model_files',
      `tokenizer.json: only byte-level and sentencepiece decoders are supported. ${found}.`,
    );
  }
  return { bytesOf: sentencepieceBytes(decoders), leadingSpaces: countLeadingSpaces(decoders) };
}

const SENTENCEPIECE_KINDS = new Set(['Replace', 'ByteFallback', 'Fuse', 'Strip', 'Metaspace']);

function flatten(decoder: unknown): Json[] {
  if (!isObject(decoder)) return [];
  return decoder.type === 'Sequence' && Array.isArray(decoder.decoders) ? decoder.decoders.flatMap(flatten) : [decoder];
}

const utf8 = new TextEncoder();

const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = new Map(
  BYTE_CHARACTERS.map((character, byte) => [character, byte]),
);

/** By GPT-2's table; a token with other characters is its own text. */
function byteLevelBytes(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = BYTE_OF_CHARACTER.get(token[i]!);
    if (byte === undefined) return utf8.encode(token);
    bytes[i] = byte;
  }
  return bytes;
}

function sentencepieceBytes(decoders: readonly Json[]): (token: string) => Uint8Array {
  const hasByteTokens = decoders.some((decoder) => decoder.type === 'ByteFallback');
  const replacements = decoders.flatMap(replacement);
  return (token) => {
    const byte = hasByteTokens ? /^<0x([0-9A-Fa-f]{2})>$/.exec(token) : null;
    if (byte) return Uint8Array.of(parseInt(byte[1]!, 16));
    return utf8.encode(replacements.reduce((text, [from, to]) => text.replaceAll(from, to), token));
  };
}

function replacement(decoder: Json): [string, string][] {
  if (decoder.type === 'Metaspace') return [[typeof decoder.replacement === 'string' ? decoder.replacement : '▁', ' ']];
  if (decoder.type !== 'Replace') return [];
  const from = isObject(decoder.pattern) ? decoder.pattern.String : undefined;
  if (typeof from !== 'string' || typeof decoder.content !== 'string') {
    throw new AppError(
      'bad_model_files',
      `tokenizer.json: the decoder replaces ${JSON.stringify(decoder.pattern)}; only a String is supported.`,
    );
  }
  return [[from, decoder.content]];
}

function countLeadingSpaces(decoders: readonly Json[]): number {
  const strip = decoders.find((decoder) => decoder.type === 'Strip' && decoder.content === ' ');
  if (strip) return Number(strip.start);
  const metaspace = decoders.find((decoder) => decoder.type === 'Metaspace');
  return metaspace && metaspace.prepend_scheme !== 'never' && metaspace.add_prefix_space !== false ? 1 : 0;
}
