// Keeps answers to a grammar. All grammar work runs in threads of its own, because an evil grammar may take for ever to
// compile or to mask, and the library aborts on a wrong one: a first thread tries what clients send, and dies of it if
// need be; a second one compiles what passed and serves the matchers. Each wait has a deadline; a thread that misses it is
// replaced, and the next use starts a new one.
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '#base/log';
import { openThread } from '#base/open-thread';
import type { Constraint } from '#domain/constraint';
import { AppError } from '#domain/errors';
import { prepare } from './prepare.ts';
import {
  ANSWERED,
  MASK,
  maskWords,
  STATE,
  STATES,
  type FromThread,
  type ThreadConstraint,
  type ThreadData,
  type ToThread,
  type VocabularyBytes,
} from './thread-messages.ts';

export type { VocabularyBytes };

export interface GrammarLimits {
  /** Longer sources are refused. */
  readonly sourceLengthMax: number;
  readonly compileMs: number;
  /** For one token; a step of all sequences waits for it. */
  readonly maskMs: number;
  /** Compiled grammars that are kept. */
  readonly grammarsMax: number;
}

const DEFAULT_LIMITS: GrammarLimits = {
  sourceLengthMax: 1_000_000,
  compileMs: 10_000, // schemas in use take 1 to 100 ms
  maskMs: 2_000, // a mask takes under 1 ms; all streams stand still meanwhile
  grammarsMax: 64,
};

export interface GrammarMatcher {
  /** One bit per token, `[ceil(vocab / 32)]` words: may it come next? Waits until it is there. Null: the text is over. */
  mask(): Int32Array | null;
  /** The token was sampled; the next mask is computed in the meantime. */
  accept(tokenId: number): void;
  close(): void;
}

export interface Grammars {
  /** Throws `invalid_constraint` with the reason. */
  compile(constraint: Constraint, signal?: AbortSignal): Promise<void>;
  /** Begins a text. Codes: `invalid_constraint`, `engine_unavailable` (the thread was lost: try again). */
  open(constraint: Constraint): Promise<GrammarMatcher>;
  close(): Promise<void>;
}

export interface GrammarsOptions {
  readonly vocabulary: VocabularyBytes;
  readonly vocabSize: number;
  readonly stopTokenIds: readonly number[];
  readonly log: Log;
  readonly limits?: Partial<GrammarLimits>;
}

/** Constraints that are known to compile; more are simply tried again. */
const KNOWN_MAX = 1_000;

export function createGrammars({ vocabulary, vocabSize, stopTokenIds, log, limits: given }: GrammarsOptions): Grammars {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const start = (name: string) =>
    startThread(name, { vocabulary, vocabSize, stopTokenIds, grammarsMax: limits.grammarsMax }, log);
  let trying: Thread | null = null;
  let matching: Thread | null = null;
  /** By JSON of the constraint: what is known to compile, and what is being tried. */
  const known = new Map<string, Promise<void>>();

  async function attempt(constraint: ThreadConstraint): Promise<void> {
    if (trying === null || trying.lost) trying = start('grammar trial');
    const thread = trying;
    const fault = await thread.ask((id) => ({ kind: 'compile', id, constraint }), limits.compileMs);
    if (fault === null) return;
    await thread.end(); // what is left of the library's memory cannot be trusted
    const reason = fault === 'deadline' ? `it takes longer than ${limits.compileMs / 1000} s to compile` : fault;
    throw refusal(constraint, reason);
  }

  function compile(constraint: ThreadConstraint): Promise<void> {
    if (constraint.source.length > limits.sourceLengthMax)
      throw refusal(
        constraint,
        `it has ${constraint.source.length} characters, and at most ${limits.sourceLengthMax} are read`,
      );
    const key = JSON.stringify(constraint);
    const found = known.get(key);
    if (found) return found;
    if (known.size >= KNOWN_MAX) known.delete(known.keys().next().value!);
    const tried = attempt(constraint);
    known.set(key, tried);
    tried.catch(() => known.delete(key));
    return tried;
  }

  return {
    async compile(constraint, signal) {
      await compile(prepare(constraint));
      signal?.throwIfAborted();
    },
    async open(given) {
      const constraint = prepare(given);
      await compile(constraint);
      if (matching === null || matching.lost) matching = start('grammar');
      const thread = matching;
      const shared = new SharedArrayBuffer(4 * (MASK + maskWords(vocabSize)));
      let number = 0;
      const fault = await thread.ask((id) => {
        number = id;
        return { kind: 'open', id, constraint, shared };
      }, limits.compileMs);
      if (fault === null) return createMatcher(thread, number, new Int32Array(shared), limits.maskMs);
      await thread.end();
      throw new AppError('engine_unavailable', `The grammar thread failed (${fault}). Try again.`);
    },
    async close() {
      await Promise.all([trying?.end(), matching?.end()]);
    },
  };
}

const NAMES: Readonly<Record<ThreadConstraint['kind'], string>> = {
  regex: 'regular expression',
  ebnf: 'grammar',
  structural_tag: 'structural tag',
};

const refusal = ({ kind }: ThreadConstraint, reason: string): AppError =>
  new AppError('invalid_constraint', `This ${NAMES[kind]} cannot be used: ${reason.trim().slice(0, 500)}`);

function createMatcher(thread: Thread, id: number, words: Int32Array, maskMs: number): GrammarMatcher {
  let asked = 1; // the first mask came with `open`
  return {
    mask() {
      const deadline = performance.now() + maskMs;
      for (let answered = Atomics.load(words, ANSWERED); answered < asked; answered = Atomics.load(words, ANSWERED)) {
        const left = deadline - performance.now();
        if (left > 0 && !thread.lost) Atomics.wait(words, ANSWERED, answered, left);
        else throw lostMask(thread, id, maskMs);
      }
      const state = Atomics.load(words, STATE);
      if (state === STATES.failed) throw new AppError('engine_failed', 'The grammar did not accept the token that it had allowed.');
      return state === STATES.complete ? null : words.subarray(MASK);
    },
    accept(tokenId) {
      asked++;
      thread.tell({ kind: 'accept', id, tokenId });
    },
    close: () => thread.tell({ kind: 'close', id }),
  };
} // prettier-ignore

/** Whose fault it is: the grammar that is being worked on is too slow, the others may try again. */
function lostMask(thread: Thread, id: number, maskMs: number): AppError {
  const isGuilty = thread.workingFor() === id;
  void thread.end();
  if (!isGuilty) return new AppError('engine_unavailable', 'The grammar thread was replaced. Try again.');
  const message = `This constraint takes longer than ${maskMs / 1000} s for one token. Use a simpler one.`;
  return new AppError('invalid_constraint', message);
}

interface Thread {
  readonly lost: boolean;
  /** Null, what went wrong, or `deadline`. */
  ask(message: (id: number) => ToThread, deadlineMs: number): Promise<string | null>;
  tell(message: ToThread): void;
  workingFor(): number;
  end(): Promise<void>;
}

const THREAD = new URL(`./grammar-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

function startThread(name: string, data: Omit<ThreadData, 'working'>, log: Log): Thread {
  const working = new SharedArrayBuffer(4);
  const worker = openThread(THREAD, { workerData: { ...data, working } satisfies ThreadData, name });
  const waiting = new Map<number, (fault: string | null) => void>();
  let count = 0;
  let lost = false;
  worker.unref();
  worker.on('message', ({ id, fault }: FromThread) => waiting.get(id)?.(fault));
  worker.on('error', (error) => lose(error.message));
  worker.on('exit', () => lose('it ended'));

  function lose(reason: string): void {
    if (!lost) log.warn('grammar.thread_lost', { thread: name, reason });
    lost = true;
    for (const answer of waiting.values()) answer(reason);
  }

  return {
    get lost() {
      return lost;
    },
    ask(message, deadlineMs) {
      const id = ++count;
      return new Promise((resolve) => {
        const timer = setTimeout(() => answer('deadline'), deadlineMs);
        const answer = (fault: string | null) => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(fault);
        };
        waiting.set(id, answer);
        if (lost) answer('it ended');
        else worker.postMessage(message(id));
      });
    },
    tell: (message) => worker.postMessage(message),
    workingFor: () => Atomics.load(new Int32Array(working), 0),
    async end() {
      lost = true;
      await worker.terminate();
    },
  };
}
