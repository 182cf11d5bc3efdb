// Entry point of a grammar thread: compiles grammars, and writes the mask of each text's next token into shared memory while the model
// computes its logits. Answers in order; grammars.ts limits what a slow grammar may cost.
import { parentPort, workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { createConstraintEngine, type CompiledConstraint, type Text } from './constraint-engine.ts';
import {
  ANSWERED,
  MASK,
  STATE,
  STATES,
  WORKING_FOR,
  WORKING_SINCE,
  clockMs,
  type Answer,
  type FromThread,
  type KeyedConstraint,
  type ThreadData,
  type ToThread,
} from './thread-messages.ts';

const data = workerData as ThreadData;
const port = parentPort!;
const working = new Int32Array(data.working);
const engine = createConstraintEngine(data);
/** Cached states of all cached constraints, about a kilobyte each. */
const REMEMBERED_MAX = 300_000;
const compiled = new LRUCache<string, CompiledConstraint>({ max: data.grammarsMax, maxSize: REMEMBERED_MAX });

interface OpenText {
  readonly text: Text;
  readonly words: Int32Array;
}
const texts = new Map<number, OpenText>();

function compile({ key, constraint }: KeyedConstraint): CompiledConstraint {
  const found = compiled.get(key) ?? engine.compile(constraint);
  compiled.delete(key); // it has grown since
  compiled.set(key, found, { size: found.size });
  return found;
}

function open({ id, grammar, shared, accepted }: Extract<ToThread, { kind: 'open' }>): void {
  const entry: OpenText = { text: compile(grammar).begin(), words: new Int32Array(shared) };
  texts.set(id, entry);
  for (const tokenId of accepted) advance(entry, tokenId);
  answer(entry);
}

function advance({ text, words }: OpenText, tokenId: number): void {
  if (!text.accept(tokenId)) Atomics.store(words, STATE, STATES.failed);
}

/** A text that needs more states than allowed ends with its own error. */
function accept(id: number, tokenId: number): void {
  const entry = texts.get(id);
  if (!entry) return; // closed in the meantime
  try {
    advance(entry, tokenId);
    answer(entry);
  } catch {
    Atomics.store(entry.words, STATE, STATES.tooComplex);
    mark(entry);
  }
}

function answer(entry: OpenText): void {
  const { text, words } = entry;
  if (Atomics.load(words, STATE) === STATES.matching) {
    if (text.isOver) Atomics.store(words, STATE, STATES.complete);
    else text.writeMask(words.subarray(MASK));
  }
  mark(entry);
}

function mark({ words }: OpenText): void {
  Atomics.add(words, ANSWERED, 1);
  Atomics.notify(words, ANSWERED);
}

function orRefuse(work: () => void): Answer {
  try {
    work();
    return { outcome: 'done' };
  } catch (error) {
    return { outcome: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

function handle(message: ToThread): void {
  Atomics.store(working, WORKING_SINCE, clockMs());
  Atomics.store(working, WORKING_FOR, message.id);
  if (message.kind === 'accept') accept(message.id, message.tokenId);
  else if (message.kind === 'close') texts.delete(message.id);
  else {
    const answered = orRefuse(() => void (message.kind === 'compile' ? compile(message.grammar) : open(message)));
    port.postMessage({ kind: 'answer', id: message.id, ...answered } satisfies FromThread);
  }
  Atomics.store(working, WORKING_FOR, 0);
}

port.postMessage({ kind: 'ready' } satisfies FromThread);
port.on('message', handle);
