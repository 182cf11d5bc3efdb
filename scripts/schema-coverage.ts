// `npm run coverage:schemas -- DIRECTORY`: how many real JSON schemas can be enforced, and whether the resulting answers validate. The
// directory has a folder per set with a schema in each file: `data` of JSONSchemaBench (github.com/guidance-ai/jsonschemabench), a fetched
// copy. The schemas are those of `schema-coverage-sample.json`, 50 of each set at a named commit; `--per-set` takes others, `--walks=-1` only
// compiles. Each schema is compiled and walked: random allowed tokens for a while, then whatever ends the answer soon; and once greedily, by
// the lowest id. Ajv validates the answers, without formats. With WHETSTONE_PEERS_PYTHON (a Python that has llguidance) the peer compiles the
// same schemas. Exits with 1 if an answer did not validate, a mask led to a dead end, a schema of the trivial set was refused, or the peer
// accepts more of a set.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createRandom } from '#base/random';
import { AppError } from '#domain/errors';
import { createConstraintEngine, WORK_OF_COMPILING, type CompiledConstraint } from '#grammar/constraint-engine';
import { readTextModel } from '#text/text-model';
import { createVocabulary } from '#text/vocabulary';
import { processorMs } from './processor-ms.ts';
import { everyOther, sampled } from './schema-sample.ts';
import { createWalker } from './schema-walk.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: 'models/starter' },
    'per-set': { type: 'string' },
    walks: { type: 'string', default: '3' },
    unfinished: { type: 'boolean', default: false },
  },
});
const [root] = positionals;
if (root === undefined) throw new Error('Say where the schemas are: npm run coverage:schemas -- DIRECTORY');
const PEER = fileURLToPath(new URL('./schema_coverage_peer.py', import.meta.url));
const peerPython = process.env.WHETSTONE_PEERS_PYTHON;

/** Random tokens; after them, whatever ends the answer. */
const RANDOM_TOKENS = 150;
const TOKENS_MAX = 1_500;
const vocabulary = createVocabulary(await readTextModel(values.model));
const vocabSize = vocabulary.offsets.length - 1;
const end = vocabulary.eosTokenIds[0]!;
const engine = createConstraintEngine({ vocabulary, vocabSize, stopTokenIds: vocabulary.eosTokenIds });
const walk = createWalker({ vocabulary, vocabSize, end, random: createRandom(7), tokensMax: TOKENS_MAX });

/** Null: Ajv does not accept the schema. */
function judgeOf(schema: unknown): ValidateFunction | null {
  if (typeof schema !== 'object' || schema === null) return null;
  const { $schema, id, ...rest } = schema as Record<string, unknown>;
  const dialect = /draft-0[3467]/.test(String($schema)) ? Ajv : Ajv2020;
  try {
    const ajv = new dialect({ strict: false, validateFormats: false, logger: false, allowUnionTypes: true });
    return ajv.compile(typeof id === 'string' ? rest : { ...rest, ...(id === undefined ? {} : { id }) });
  } catch {
    return null;
  }
}

/** How many of them llguidance accepts; null: it is not installed. */
function peerAccepted(paths: readonly string[]): number | null {
  if (peerPython === undefined) return null;
  const { status, stdout, stderr } = spawnSync(peerPython, [PEER], { input: paths.join('\n'), encoding: 'utf8' });
  if (status !== 0) throw new Error(`The peer failed: ${stderr}`);
  return (JSON.parse(stdout) as (string | null)[]).filter((reason) => reason === null).length;
}

const compileMs: number[] = [];
const work: number[] = [];
const refusals = new Map<string, number>();
let failures = 0;

function fail(what: string, file: string, text: string): void {
  failures++;
  process.stdout.write(`${what}: ${file}: …${text.slice(-200)}\n`);
}

function compile(source: string): CompiledConstraint | null {
  const startMs = processorMs();
  try {
    const made = engine.compile({
      kind: 'json_schema',
      source,
      anyWhitespace: true,
      whitespacePattern: null,
      strict: false,
    });
    work.push(made.work);
    return made;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const reason = error.message.replace(/at \S+,|at its root,/, '').slice(0, 100);
    refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
    return null;
  } finally {
    compileMs.push(processorMs() - startMs);
  }
}

const chosen = values['per-set'] === undefined ? sampled(root) : everyOther(root, Number(values['per-set']));
for (const { set, files } of chosen) {
  const count = { schemas: files.length, refused: 0, unjudged: 0, answers: 0, unfinished: 0, tooComplex: 0 };
  let [walkMs, tokens] = [0, 0];
  for (const file of files) {
    const source = readFileSync(join(root, set, file), 'utf8');
    const compiled = compile(source);
    if (compiled === null) {
      count.refused++;
      continue;
    }
    const judge = judgeOf(JSON.parse(source));
    if (judge === null) count.unjudged++;
    for (let at = 0; at <= Number(values.walks); at++) {
      const startMs = performance.now();
      const walked = walk(compiled, at === 0 ? 0 : RANDOM_TOKENS);
      walkMs += performance.now() - startMs;
      if (walked === null) {
        count.tooComplex++;
        continue;
      }
      tokens += walked.tokens;
      if (walked.isDead) fail('dead end', `${set}/${file}`, walked.text);
      else if (!walked.ended) {
        count.unfinished++;
        if (values.unfinished)
          process.stdout.write(`unfinished: ${set}/${file}: …${JSON.stringify(walked.text.slice(-120))}\n`);
      } else if (judge !== null && !judge(JSON.parse(walked.text))) fail('invalid', `${set}/${file}`, walked.text);
      else count.answers++;
    }
  }
  const peer = peerAccepted(files.map((file) => join(root, set, file)));
  const ours = count.schemas - count.refused;
  if (peer !== null) process.stdout.write(`${set}: ${ours} accepted, ${peer} by the peer\n`);
  if (ours < (peer ?? 0) || (set === 'Github_trivial' && count.refused > 0)) failures++;
  const perToken = tokens === 0 ? 'not walked' : `${(walkMs / tokens).toFixed(2)} ms a token`;
  process.stdout.write(
    `${set}: ${Object.entries(count)
      .map(([name, number]) => `${name} ${number}`)
      .join(', ')}, ${perToken}\n`,
  );
}
function quantilesOf(all: number[]): string {
  all.sort((a, b) => a - b);
  const quantile = (part: number) => all[Math.floor(part * (all.length - 1))]!.toFixed(0);
  return `p50 ${quantile(0.5)}, p99 ${quantile(0.99)}, most ${quantile(1)}`;
}
process.stdout.write(
  `compiling: ${quantilesOf(compileMs)} ms of the processor; of ${WORK_OF_COMPILING} units of work: ${quantilesOf(work)}\n`,
);
for (const [reason, count] of [...refusals].sort((a, b) => b[1] - a[1])) process.stdout.write(`${count} ${reason}\n`);
if (failures > 0) process.exitCode = 1;
