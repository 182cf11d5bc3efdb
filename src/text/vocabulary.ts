// A tokenizer's tokens as bytes, in order of id: what an engine needs to enforce a grammar. Control tokens have none, because they are never
// part of a text, unless they mark calls and reasoning.
import type { ReasoningSyntax } from './reasoning-parser.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { ToolSyntax } from './tool-parser.ts';

export interface Vocabulary {
  /** Token i is bytes[offsets[i], offsets[i + 1]). */
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly eosTokenIds: readonly number[];
}

export function createVocabulary({
  tokenizer,
  eosTokenIds,
  toolSyntax = null,
  reasoningSyntax = null,
}: {
  tokenizer: Tokenizer;
  eosTokenIds: readonly number[];
  toolSyntax?: Pick<ToolSyntax, 'markers'> | null;
  reasoningSyntax?: Pick<ReasoningSyntax, 'markers'> | null;
}): Vocabulary {
  const markers = [...(toolSyntax?.markers ?? []), ...(reasoningSyntax?.markers ?? [])];
  const written = new Set(markers.map((marker) => tokenizer.tokenId(marker)));
  const isControl = (id: number) => eosTokenIds.includes(id) || (tokenizer.isSpecial(id) && !written.has(id));
  const tokens = Array.from({ length: tokenizer.vocabSize }, (_, id) =>
    isControl(id) ? new Uint8Array(0) : tokenizer.tokenBytes(id),
  );
  const offsets = new Uint32Array(tokens.length + 1);
  tokens.forEach((token, id) => (offsets[id + 1] = offsets[id]! + token.length));
  return { bytes: new Uint8Array(Buffer.concat(tokens)), offsets, eosTokenIds };
}
