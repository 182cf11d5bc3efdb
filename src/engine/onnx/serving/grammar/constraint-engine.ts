// Constraints of one thread: compiled, and matched text by text. The slow parts are counted, not timed: a constraint that needs
// more states than there may be is refused (terms.ts, machine.ts). States of all texts of a constraint are remembered together;
// when they fill the room there is, they are forgotten: open texts go on from where they are, or, where the terms themselves are too many,
// from their tokens. Knows no threads.
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
  /** What compiling took, in the units of `WORK_OF_COMPILING`. */
  readonly work: number;
  /** States that are remembered of its texts: about a kilobyte each. */
  readonly size: number;
}

/** One text that keeps to a constraint. */
export interface Text {
  /** The token that ends the text was accepted. */
  readonly isOver: boolean;
  /** False: it may not come next. Throws `invalid_constraint` where it needs too many states. */
  accept(tokenId: number): boolean;
  /** One bit per token: may it come next? */
  writeMask(mask: Int32Array): void;
}

export interface ConstraintEngineOptions {
  readonly vocabulary: VocabularyBytes;
  readonly vocabSize: number;
  readonly stopTokenIds: readonly number[];
  /** That compiling may take, counted. */
  readonly workMax?: number;
  /** Remembered of all texts of one constraint. */
  readonly placesMax?: number;
}

/** A second, about; real schemas need a hundredth. */
export const WORK_OF_COMPILING = 450_000;
const WORK_OF_TOKEN = 300_000;

/** The first may be one that other texts have filled meanwhile. */
const RENEWALS_MAX = 2;

/** Of one constraint: what is remembered of its texts. */
interface Recogniser {
  readonly machine: Machine;
  readonly masks: TokenMasks;
  readonly terms: Terms;
  readonly work: number;
}

/** Where a text is. `bytes` is longer than the text. */
interface Reached {
  readonly set: PlaceSet;
  /** Of the machine, when it made the set. */
  readonly generation: number;
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** Once more where there is room when what the machine remembers is forgotten. */
function inRoom<T>(machine: Machine, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof OutOfPlaces)) throw error;
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

  const startOf = ({ machine }: Pick<Recogniser, 'machine'>): Reached =>
    inRoom(machine, () => ({
      set: machine.start,
      generation: machine.memory.generation,
      bytes: new Uint8Array(256),
      length: 0,
    }));

  /** `renew`: another recogniser than the one that has no room left. */
  function begin(first: Recogniser, renew: (spent: Recogniser) => Recogniser): Text {
    let recogniser = first;
    let at = startOf(first);
    let isOver = false;
    const tokens: Uint8Array[] = [];

    /** Where the text is, among what the machine remembers now. */
    function refresh(): void {
      const { machine } = recogniser;
      if (at.generation !== machine.memory.generation)
        at = { ...at, generation: machine.memory.generation, set: machine.setOf(at.set.places) };
    }

    function withPlaces<T>(work: () => T): T {
      return inRoom(recogniser.machine, () => {
        refresh();
        return work();
      });
    }

    function withRoom<T>(work: () => T): T {
      for (let renewals = 0; ; renewals++) {
        try {
          if (renewals > 0) {
            recogniser = renew(recogniser);
            at = startOf(recogniser);
            for (const token of tokens) at = withPlaces(() => step(recogniser, at, token));
          }
          return withPlaces(work);
        } catch (error) {
          if (!(error instanceof OutOfRoom) || renewals === RENEWALS_MAX) throw error;
        }
      }
    }

    return {
      get isOver() {
        return isOver;
      },
      accept(tokenId) {
        if (stops.has(tokenId)) return (isOver = at.set.isEnd);
        const token = bytesOf(tokenId);
        at = withRoom(() => step(recogniser, at, token));
        tokens.push(token);
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
    if (terms.size > terms.sizeMax / 2) terms = createTerms();
    const own = terms;
    own.allow(workMax, true);
    try {
      const machine = createMachine(own, constraintForm(own, constraint), placesMax);
      const recogniser = { machine, masks: createTokenMasks(machine, own, tries, insides), terms: own };
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
      const renew = (spent: Recogniser): Recogniser =>
        current === spent ? (current = recogniserOf(constraint)) : current;
      return {
        begin: () => begin(current, renew),
        work: current.work,
        get size() {
          return current.machine.memory.size;
        },
      };
    },
  };
}
