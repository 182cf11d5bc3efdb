// Entry of a grammar thread: compiles, and writes the mask of each matcher's next token into shared memory while the model
// computes its logits. Answers in order; what a slow grammar costs, the engine's thread decides (grammars.ts).
import { parentPort, workerData } from 'node:worker_threads';
import type { CompiledGrammar, GrammarMatcher } from '@mlc-ai/web-xgrammar';
import {
  ANSWERED,
  MASK,
  STATE,
  STATES,
  type FromThread,
  type ThreadConstraint,
  type ThreadData,
  type ToThread,
} from './thread-messages.ts';
import { createUtf8Guard, type Pending } from './utf8-guard.ts';
import { openXgrammar } from './xgrammar.ts';

const data = workerData as ThreadData;
const port = parentPort!;
const working = new Int32Array(data.working);
const opening = openXgrammar(data);
const utf8 = createUtf8Guard(data.vocabulary);

/** Least recently used first. */
const grammars = new Map<string, CompiledGrammar>();

interface OpenMatcher {
  readonly matcher: GrammarMatcher;
  readonly words: Int32Array;
  /** Of the last character. */
  pending: Pending;
}
const matchers = new Map<number, OpenMatcher>();

async function compiled(constraint: ThreadConstraint): Promise<CompiledGrammar> {
  const key = JSON.stringify(constraint);
  const grammar = grammars.get(key) ?? (await (await opening).compile(constraint));
  grammars.delete(key);
  grammars.set(key, grammar);
  for (const [oldest, unused] of grammars) {
    if (grammars.size <= data.grammarsMax) break;
    grammars.delete(oldest);
    unused.dispose(); // matchers hold on to what they need
  }
  return grammar;
}

async function open(id: number, constraint: ThreadConstraint, shared: SharedArrayBuffer): Promise<void> {
  const grammar = await compiled(constraint);
  const matcher = await (await opening).library.GrammarMatcher.createGrammarMatcher(grammar);
  const entry: OpenMatcher = { matcher, words: new Int32Array(shared), pending: [] };
  matchers.set(id, entry);
  await answer(entry);
}

async function accept(id: number, tokenId: number): Promise<void> {
  const entry = matchers.get(id);
  if (!entry) return; // closed meanwhile
  entry.pending = utf8.advance(entry.pending, tokenId);
  if (!entry.matcher.acceptToken(tokenId)) Atomics.store(entry.words, STATE, STATES.failed);
  await answer(entry);
}

async function answer({ matcher, words, pending }: OpenMatcher): Promise<void> {
  if (Atomics.load(words, STATE) === STATES.matching) {
    if (matcher.isTerminated()) Atomics.store(words, STATE, STATES.complete);
    else {
      const mask = await matcher.getNextTokenBitmask();
      utf8.apply(mask, pending);
      words.set(mask, MASK);
    }
  }
  Atomics.add(words, ANSWERED, 1);
  Atomics.notify(words, ANSWERED);
}

function close(id: number): void {
  matchers.get(id)?.matcher.dispose();
  matchers.delete(id);
}

async function handle(message: ToThread): Promise<void> {
  Atomics.store(working, 0, message.id);
  if (message.kind === 'accept') await accept(message.id, message.tokenId);
  else if (message.kind === 'close') close(message.id);
  else {
    const fault = await (
      message.kind === 'compile' ? compiled(message.constraint) : open(message.id, message.constraint, message.shared)
    ).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    port.postMessage({ id: message.id, fault } satisfies FromThread);
  }
  Atomics.store(working, 0, 0);
}

/** One after the other: `working` names whom it is for. */
let last: Promise<void> = opening.then(() => undefined);
port.on('message', (message: ToThread) => {
  last = last.then(() => handle(message));
});
