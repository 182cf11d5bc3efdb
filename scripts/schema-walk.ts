// Writes answers that satisfy a constraint without a model: random allowed tokens for a while, then whatever ends the answer soon.
import type { Random } from '#base/random';
import { TooComplex } from '#grammar/lexemes/term';
import type { CompiledConstraint } from '#grammar/constraint-engine';
import { maskWords, type VocabularyBytes } from '#grammar/thread-messages';

export interface Walk {
  readonly ended: boolean;
  /** Nothing was allowed, or an allowed token was not accepted. */
  readonly isDead: boolean;
  readonly text: string;
  readonly tokens: number;
}

export interface WalkOptions {
  readonly vocabulary: VocabularyBytes;
  readonly vocabSize: number;
  readonly end: number;
  readonly random: Random;
  readonly tokensMax: number;
}

const ENDING = ['"', '}', ']', '":', '0', '"]', '"}'];

export function createWalker({ vocabulary, vocabSize, end, random, tokensMax }: WalkOptions) {
  const pieces = Array.from({ length: vocabulary.offsets.length - 1 }, (_, id) =>
    Buffer.from(vocabulary.bytes.subarray(vocabulary.offsets[id], vocabulary.offsets[id + 1])),
  );
  const endings = ENDING.map((text) => pieces.findIndex((piece) => piece.toString() === text)).filter((id) => id >= 0);

  /** `free`: random tokens first; without any, greedily the first allowed token. */
  function walk(compiled: CompiledConstraint, free: number): Walk {
    const text = compiled.begin();
    const mask = new Int32Array(maskWords(vocabSize));
    const isAllowed = (id: number) => ((mask[id >> 5]! >>> (id & 31)) & 1) === 1;
    const written: Buffer[] = [];
    const result = (ended: boolean, isDead: boolean): Walk => ({
      ...{ ended, isDead, tokens: written.length },
      text: Buffer.concat(written).toString(),
    });
    while (written.length < tokensMax) {
      text.writeMask(mask);
      const allowed = pieces.flatMap((_, id) => (isAllowed(id) ? [id] : []));
      const any = free === 0 ? allowed[0] : allowed[random.integer(allowed.length)];
      const ending = [end, ...endings].find(isAllowed);
      const next = written.length < free ? any : (ending ?? any);
      if (next === end) return result(true, false);
      if (next === undefined || !text.accept(next)) return result(false, true);
      written.push(pieces[next]!);
    }
    return result(false, false);
  }

  /** Null: so many alternatives are open at once that the text is abandoned, as a request would be. */
  return function walkOrGiveUp(compiled: CompiledConstraint, free: number): Walk | null {
    try {
      return walk(compiled, free);
    } catch (error) {
      if (error instanceof TooComplex) return null;
      throw error;
    }
  };
}
