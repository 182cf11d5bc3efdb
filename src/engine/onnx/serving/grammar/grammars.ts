import type { Log } from '#base/log';
import type { Constraint } from '#domain/constraint';
export interface VocabularyBytes { readonly bytes: Uint8Array; readonly offsets: Uint32Array }
export interface GrammarMatcher { mask(): Int32Array | null; accept(tokenId: number): void; close(): void }
export interface Grammars { compile(constraint: Constraint, signal?: AbortSignal): Promise<void>; open(constraint: Constraint): Promise<GrammarMatcher>; close(): Promise<void> }
export function createGrammars(_: { vocabulary: VocabularyBytes; vocabSize: number; stopTokenIds: readonly number[]; log: Log }): Grammars { const no = async () => { throw new Error('interim'); }; return { compile: no, open: no, close: async () => {} }; }
