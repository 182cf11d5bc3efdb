// The constraints of one thread: compiles them and matches texts against them. The slow parts are limited by counted work, not by
// time: a constraint that needs more states than allowed is refused (terms.ts, machine.ts). All texts of a constraint share one
// memory of states. When it is full, it is cleared: open texts continue from their current state, and the next one begins with a new
// recogniser, so that no text depends on what was written before. Does not know threads.
import type { Constraint } from '#domain/constraint';
import { constraintForm, unusable } from './constraint-form.ts';
import { createTerms, OutOfRoom, TooComplex, type Terms } from './lexemes/terms.ts';
import { createInsides } from './masks/insides.ts';
import { createTokenMasks, type TokenMasks } from './masks/token-masks.ts';
import { createVocabularyTries } from './masks/vocabulary-tries.ts';
import { createMachine } from './structure/machine.ts';
import { OutOfPlaces, PLACES_MAX } from './structure/place-table.ts';
import type { Machine, PlaceSet } from './structure/places.ts';
import { maskWords, type VocabularyBytes } from './thread-messages.ts';

export interface ConstraintEngine {
  /** Throws `invalid_constraint`. */
  compile(constraint: Constraint): CompiledConstraint;
}

export interface CompiledConstraint {
  begin(): Text;
  /** The work that compiling took, in the units of `WORK_OF_COMPILING`. */
  readonly work: number;
  /** Number of cached states of its texts, about a kilobyte each. */
  readonly size: number;
}

/** One text that must satisfy a constraint. */
export interface Text {
  /** True once the token that ends the text has been accepted. */
  readonly isOver: boolean;
  /** Returns false if the token may not come next. Throws `invalid_constraint` if the text needs too many states. */
  accept(tokenId: number): boolean;
  /** One bit per token: may it come next? */
  writeMask(mask: Int32Array): void;
}

export interface ConstraintEngineOptions {
  readonly vocabulary: VocabularyBytes;
  readonly vocabSize: number;
  readonly stopTokenIds: readonly number[];
  /** The most work that compiling may take. */
  readonly workMax?: number;
  /** The most places that are cached for all texts of one constraint. */
  readonly placesMax?: number;
}

/** Takes about a second; real schemas need a hundredth of it. */
export const WORK_OF_COMPILING = 450_000;
const WORK_OF_TOKEN = 300_000;
/** Constraints share their terms, up to this number. */
const TERMS_SHARED = 200_000;

/** The compiled form of one constraint, with the cached states of its texts. */
interface Recogniser {
  readonly machine: Machine;
  readonly masks: TokenMasks;
  readonly terms: Terms;
  /** How often the terms had been forgotten when it was compiled. */
  readonly forgotten: number;
  readonly work: number;
}

/** The position of a text in the grammar. `bytes` is longer than the text. */
interface Reached {
  readonly set: PlaceSet;
  /** The generation of the machine's memory in which the set was made. */
  readonly generation: number;
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** Runs the work; if memory is full, clears it and runs the work once more. */
function inRoom<T>({ machine, terms }: Pick<Recogniser, 'machine' | 'terms'>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof OutOfRoom)) throw error;
    if (!(error instanceof OutOfPlaces)) terms.forget();
    machine.memory.forget();
    return work();
  }
}

export function createConstraintEngine(options: ConstraintEngineOptions): ConstraintEngine {
  const { vocabulary, vocabSize, stopTokenIds, placesMax = PLACES_MAX, workMax = WORK_OF_COMPILING } = options;
  const tries = createVocabularyTries(vocabulary, maskWords(vocabSize));
  const insides = createInsides(tries, maskWords(vocabSize));
  const stops = new Set(stopTokenIds);
  const bytesOf = (tokenId: number) =>
    vocabulary.bytes.subarray(vocabulary.offsets[tokenId], vocabulary.offsets[tokenId + 1]);

  function step({ machine, terms }: Recogniser, at: Reached, token: Uint8Array): Reached {
    const length = at.length + token.length;
    const bytes = length <= at.bytes.length ? at.bytes : new Uint8Array(2 * length);
    if (bytes !== at.bytes) bytes.set(at.bytes.subarray(0, at.length));
    bytes.set(token, at.length);
    terms.allow(WORK_OF_TOKEN, false);
    let { set } = at;
    for (let i = 0; i < token.length; i++) set = machine.step(set, token[i]!, at.length + i);
    const settled = machine.settle(set, bytes.subarray(0, length));
    return { set: settled, generation: machine.memory.generation, bytes, length };
  }

  const startOf = ({ machine, terms }: Pick<Recogniser, 'machine' | 'terms'>): Reached =>
    inRoom({ machine, terms }, () => ({
      set: machine.start,
      generation: machine.memory.generation,
      bytes: new Uint8Array(256),
      length: 0,
    }));

  function begin(recogniser: Recogniser): Text {
    let at = startOf(recogniser);
    let isOver = false;

    /** Looks the text's places up again if the machine's memory was cleared. */
    function refresh(): void {
      const { machine } = recogniser;
      if (at.generation !== machine.memory.generation)
        at = { ...at, generation: machine.memory.generation, set: machine.setOf(at.set.places) };
    }

    function withRoom<T>(work: () => T): T {
      return inRoom(recogniser, () => {
        refresh();
        return work();
      });
    }

    return {
      get isOver() {
        return isOver;
      },
      accept(tokenId) {
        if (stops.has(tokenId)) return (isOver = at.set.isEnd);
        const token = bytesOf(tokenId);
        at = withRoom(() => step(recogniser, at, token));
        return token.length > 0 && at.set !== recogniser.machine.dead;
      },
      writeMask(mask) {
        withRoom(() => {
          mask.fill(0);
          recogniser.terms.allow(WORK_OF_TOKEN, false);
          recogniser.masks.write(at.set, at.length, mask);
        });
        if (at.set.isEnd) for (const id of stops) mask[id >> 5]! |= 1 << (id & 31);
      },
    };
  }

  let terms: Terms = createTerms();

  function recogniserOf(constraint: Constraint): Recogniser {
    if (terms.size > TERMS_SHARED || terms.forgotten > 0) terms = createTerms();
    const own = terms;
    own.allow(workMax, true);
    try {
      const machine = createMachine(own, constraintForm(own, constraint), placesMax);
      const recogniser = {
        machine,
        masks: createTokenMasks(machine, own, tries, insides),
        terms: own,
        forgotten: own.forgotten,
      };
      startOf(recogniser); // compiling includes what it takes
      return { ...recogniser, work: workMax - own.left };
    } catch (error) {
      if (!(error instanceof TooComplex)) throw error;
      terms = createTerms();
      throw unusable(constraint.kind, `${error.message}. Use a simpler one.`);
    }
  }

  return {
    compile(constraint) {
      let current = recogniserOf(constraint);
      return {
        begin() {
          if (current.terms.forgotten > current.forgotten) current = recogniserOf(constraint);
          return begin(current);
        },
        work: current.work,
        get size() {
          return current.machine.memory.size;
        },
      };
    },
  };
}
