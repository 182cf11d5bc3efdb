// `npm run bench -- constraints DIRECTORY`: the cost of compiling a schema and of a mask with a vocabulary of 151,643 tokens, compared with
// llguidance and xgrammar, on part of the fixed sample of real schemas (DIRECTORY: `data` of JSONSchemaBench, as for coverage:schemas). Each
// schema has one answer, written without a model, its keys in the order of the schema; all engines walk its tokens. Times are processor
// time, so that a busy machine gives the same figures, of a freshly built engine (dist), the minimum over several rounds; the time of a mask
// includes accepting the token. The vocabulary is Qwen's, which the Python package dashscope contains, tokenized greedily.
// WHETSTONE_PEERS_PYTHON="$(scripts/python-env.sh peers)" has it and the peers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRandom } from '#base/random';
import { AppError } from '#domain/errors';
import { createConstraintEngine } from '#grammar/constraint-engine';
import { maskWords } from '#grammar/thread-messages';
import { readTextModel } from '#text/text-model';
import { createVocabulary } from '#text/vocabulary';
import { processorMs } from '../scripts/processor-ms.ts';
import { evenly, sampled } from '../scripts/schema-sample.ts';
import { canonical, namesIn } from '../scripts/schema-suite-run.ts';
import { createWalker } from '../scripts/schema-walk.ts';
import { quantiles } from './quantiles.ts';
import { readTiktoken } from './tiktoken-vocabulary.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'per-set': { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    peers: { type: 'string', default: 'llguidance,xgrammar' },
  },
});
const [root] = positionals;
const python = process.env.WHETSTONE_PEERS_PYTHON;
if (root === undefined) throw new Error('Say where the schemas are: npm run bench -- constraints DIRECTORY');
if (python === undefined) throw new Error('Set WHETSTONE_PEERS_PYTHON="$(scripts/python-env.sh peers)".');

const peers = values.peers.split(',').filter((name) => name !== '');
const PEER = fileURLToPath(new URL('./constraint_peers.py', import.meta.url));
/** Tokens of an answer; longer answers are cut. */
const TOKENS_MAX = 300;
const RANDOM_TOKENS = 40;
const SCHEMA_MS_MAX = 2_000; // for masks, per round; the rest of the answer is not walked
const PEER_MS_MAX = 40_000; // from when the peer is ready, per round

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

interface Case {
  readonly schema: string;
  readonly tokens: readonly number[];
}
/** Times of one schema; null: refused. */
type Times = { readonly compileMs: number; readonly maskMs: readonly number[] } | null;

/** Accepted schemas, with an answer each. */
async function writeCases(tokenize: (text: string) => number[]): Promise<Case[]> {
  const small = createVocabulary(await readTextModel('models/starter'));
  const [vocabSize, end] = [small.offsets.length - 1, small.eosTokenIds[0]!];
  const engine = createConstraintEngine({ vocabulary: small, vocabSize, stopTokenIds: small.eosTokenIds });
  const walk = createWalker({ vocabulary: small, vocabSize, end, random: createRandom(7), tokensMax: 1_500 });
  const cases: Case[] = [];
  for (const { set, files } of sampled(root!))
    for (const file of evenly(files, Number(values['per-set']))) {
      const schema = await readFile(join(root!, set, file), 'utf8');
      try {
        const answer = walk(engine.compile(constraint(schema)), RANDOM_TOKENS);
        if (!answer?.ended) continue;
        const text = canonical(JSON.parse(answer.text), namesIn(JSON.parse(schema)));
        cases.push({ schema, tokens: tokenize(text).slice(0, TOKENS_MAX) });
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
      }
    }
  return cases;
}

const constraint = (source: string) =>
  ({ kind: 'json_schema', source, anyWhitespace: true, whitespacePattern: null, strict: false }) as const;

function ourTimes(cases: readonly Case[], { vocabulary, size, end }: Awaited<ReturnType<typeof readTiktoken>>) {
  const startMs = processorMs();
  const engine = createConstraintEngine({ vocabulary, vocabSize: size, stopTokenIds: [end] });
  progress(`whetstone: the vocabulary in ${(processorMs() - startMs).toFixed(0)} ms`);
  const mask = new Int32Array(maskWords(size));
  return cases.map(({ schema, tokens }): Times => {
    const compileAtMs = processorMs();
    const text = engine.compile(constraint(schema)).begin();
    const begunMs = processorMs();
    const maskMs: number[] = [];
    for (const token of tokens) {
      const atMs = processorMs();
      text.writeMask(mask);
      const taken = text.accept(token);
      maskMs.push(processorMs() - atMs);
      if (!taken || processorMs() - begunMs > SCHEMA_MS_MAX) break;
    }
    return { compileMs: begunMs - compileAtMs, maskMs };
  });
}

/** The peer prints a line when it is ready, then a line of JSON per case, as many as it finishes within its time. */
async function peerTimes(name: string, files: { cases: string; vocabulary: string }): Promise<Times[]> {
  const child = spawn(python!, [PEER, name, files.cases, files.vocabulary], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const times: Times[] = [];
  let timer: NodeJS.Timeout | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    timer ??= setTimeout(() => child.kill(), PEER_MS_MAX);
    if (line !== 'ready') times.push(JSON.parse(line) as Times);
  }
  await exited;
  clearTimeout(timer);
  return times;
}

/** Rounds → the minimum of each time. */
function least(rounds: readonly (readonly Times[])[]): Times[] {
  const count = Math.min(...rounds.map(({ length }) => length));
  return Array.from({ length: count }, (_, at) => {
    const all = rounds.map((times) => times[at]).filter((times) => times != null);
    if (all.length === 0) return null;
    const masks = Math.min(...all.map(({ maskMs }) => maskMs.length));
    return {
      compileMs: Math.min(...all.map(({ compileMs }) => compileMs)),
      maskMs: Array.from({ length: masks }, (_, i) => Math.min(...all.map(({ maskMs }) => maskMs[i]!))),
    };
  });
}

const tiktoken = await readTiktoken(python);
const cases = await writeCases(tiktoken.tokenize);
progress(`${cases.length} schemas, ${cases.reduce((sum, { tokens }) => sum + tokens.length, 0)} tokens`);
const directory = await mkdtemp(join(tmpdir(), 'bench-constraints-'));
const files = { cases: join(directory, 'cases.json'), vocabulary: tiktoken.path };
await writeFile(files.cases, JSON.stringify(cases));
const rounds = Array.from({ length: Number(values.rounds) }, (_, i) => i);
const all: Record<string, Times[]> = {};
try {
  all.whetstone = least(rounds.map(() => ourTimes(cases, tiktoken)));
  for (const name of peers) {
    const each: Times[][] = [];
    for (const round of rounds) {
      each.push(await peerTimes(name, files));
      progress(`${name}: round ${round + 1}, ${each.at(-1)!.length} schemas`);
    }
    all[name] = least(each);
  }
} finally {
  await rm(directory, { recursive: true });
}

const summary = (times: readonly Times[]) => {
  const taken = times.filter((each) => each !== null);
  return {
    schemas: taken.length,
    compile: quantiles(taken.map(({ compileMs }) => compileMs)),
    mask: quantiles(taken.flatMap(({ maskMs }) => maskMs)),
  };
};
const ours = summary(all.whetstone);
say(`${cpus()[0]!.model}, ${tiktoken.size - 1} tokens in the vocabulary, ${cases.length} schemas; times in ms`);
for (const [name, times] of Object.entries(all)) {
  const { schemas, compile, mask } = summary(times);
  const show = (kind: 'compile' | 'mask', each: typeof compile) =>
    `${kind} ×${each.count} p50 ${each.p50} (${(each.p50 / ours[kind].p50).toFixed(2)} of ours), ` +
    `p99 ${each.p99} (${(each.p99 / ours[kind].p99).toFixed(2)}), most ${each.max}`;
  say(`${name}: ${schemas} schemas; ${show('compile', compile)}; ${show('mask', mask)}`);
}
