// `npm run bench -- precision`: what quantization costs. Perplexity of answers that the starter has not seen, and the distance of each
// precision's next-token distributions from those of float32: on the starter, on the starter with outliers in its activations, and on the
// golden models of all families, whose weights are random. Prints the table of docs/decisions/0039. With `-- --model MODEL` it measures a
// model of yours on its own greedy answers in float32, to the prompts of bench/prompts.json (the table of docs/guides/models.md), or with
// `--text FILE` on a text. MODEL is a directory or a GGUF file.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { SERVING_PRECISIONS, type ServingPrecision } from '#engine/capabilities';
import { PLAIN_REQUEST } from '#engine/inference-engine';
import { fuseAdapters } from '#engine/onnx/serving/fused-adapters';
import { openModelRunner, type ModelRunner, type RunResult } from '#engine/onnx/serving/model-runner';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { makeGgufDirectory } from '#model-files/gguf/gguf-model';
import { readTextModel } from '#text/text-model';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { FAMILIES, openModelFixture, SEQUENCES, WITH_EXPERTS } from '../test/support/golden/fixture.ts';
import { writeWithOutliers } from './outliers.ts';
import { CONTEXT, STARTER, starterTexts, type Text } from './starter-texts.ts';

/** Tokens of a piece of your own text: all logits of a piece are in memory, twice. */
const PIECE = 256;
const OUTLIERS = [10, 30, 100];

const PROMPTS = 'bench/prompts.json';
/** Of an answer. */
const ANSWER_TOKENS = 64;

/** Sums over the measured tokens. */
interface Sums {
  count: number;
  /** Of the next token's log-probabilities. */
  logprobs: number;
  /** Magnitudes of what rounding changes in them. */
  difference: number;
  divergence: number;
  divergenceMax: number;
  /** Positions at which both have the same most likely token. */
  same: number;
}

const open = (modelDirectory: string, precision: ServingPrecision): Promise<ModelRunner> =>
  openModelRunner({ modelDirectory, threads: 1, precision, contextLength: CONTEXT, weights: {} });

async function addUp(sums: Sums, modelDirectory: string, precision: ServingPrecision, texts: readonly Text[]) {
  const [exact, rounded] = [await open(modelDirectory, 'float32'), await open(modelDirectory, precision)];
  const { vocab } = exact.config;
  const noAdapters = fuseAdapters(exact.config, []);
  for (const { tokens, isMeasured } of texts) {
    const input = { tokens, start: 0, past: null, adapterId: null, allLogits: true };
    const [p, q] = [await exact.prefill(input, noAdapters), await rounded.prefill(input, noAdapters)];
    for (let i = 1; i < tokens.length; i++) {
      if (isMeasured(i)) addPlace(sums, logprobsAt(p, i - 1, vocab), logprobsAt(q, i - 1, vocab), tokens[i]!);
    }
  }
  await exact.close();
  await rounded.close();
}

function addPlace(sums: Sums, exact: Float64Array, rounded: Float64Array, next: number): void {
  const divergence = exact.reduce((sum, logprob, i) => sum + Math.exp(logprob) * (logprob - rounded[i]!), 0);
  sums.count++;
  sums.logprobs += rounded[next]!;
  sums.difference += Math.abs(rounded[next]! - exact[next]!);
  sums.divergence += divergence;
  sums.divergenceMax = Math.max(sums.divergenceMax, divergence);
  if (indexOfLargest(exact) === indexOfLargest(rounded)) sums.same++;
}

const logprobsAt = ({ logits, logsumexp }: RunResult, row: number, vocab: number): Float64Array =>
  Float64Array.from(logits.subarray(row * vocab, (row + 1) * vocab), (x) => x - logsumexp[row]!);

const indexOfLargest = (xs: Float64Array): number => xs.reduce((best, x, i) => (x > xs[best]! ? i : best), 0);

/** A line per precision; models with their own texts count as one. Divergences are of the quantized from the exact distribution, in nats. */
async function compare(
  name: string,
  models: readonly (readonly [directory: string, texts: readonly Text[]])[],
  more: (precision: ServingPrecision) => Promise<string> = async () => '',
) {
  for (const precision of SERVING_PRECISIONS) {
    const sums: Sums = { count: 0, logprobs: 0, difference: 0, divergence: 0, divergenceMax: 0, same: 0 };
    for (const [directory, texts] of models) await addUp(sums, directory, precision, texts);
    const { count, logprobs, difference, divergence, divergenceMax, same } = sums;
    const figures = [
      Math.exp(-logprobs / count).toFixed(4),
      (divergence / count).toExponential(1),
      divergenceMax.toExponential(1),
      (difference / count).toExponential(1),
      `${((100 * same) / count).toFixed(2)} %`,
    ];
    console.log(`| ${name} | ${precision} | ${figures.join(' | ')} |${await more(precision)}`);
  }
}

/** A whole file, in pieces of PIECE tokens. */
async function textsOfFile(modelDirectory: string, path: string): Promise<Text[]> {
  const { tokenizer } = await readTextModel(modelDirectory);
  const tokens = tokenizer.encode(readFileSync(path, 'utf8'));
  return Array.from({ length: Math.ceil(tokens.length / PIECE) }, (_, i) => ({
    tokens: tokens.slice(i * PIECE, (i + 1) * PIECE),
    isMeasured: () => true,
  }));
}

async function compareOurs(): Promise<void> {
  const texts = starterTexts();
  await compare('starter', [[STARTER, texts]]);
  for (const factor of OUTLIERS) {
    const directory = await writeWithOutliers(STARTER, factor);
    await compare(`starter, outliers of ${factor}`, [[directory, texts]]);
    await rm(directory, { recursive: true });
  }
  const fixtures = await Promise.all(
    FAMILIES.filter((family) => !WITH_EXPERTS.includes(family)).map(openModelFixture), // int8 does not support experts
  );
  await compare(
    'random, families without experts',
    fixtures.map(({ model, expected }) => [
      model,
      SEQUENCES.map((name) => ({ tokens: expected.sequences[name], isMeasured: () => true })),
    ]),
  );
}

/** The tokens of each greedy answer. */
async function answersOf(modelDirectory: string, precision: ServingPrecision, prompts: readonly (readonly number[])[]) {
  const limits = DEFAULT_INFERENCE_LIMITS;
  const engine = await openOnnxInferenceEngine({ modelDirectory, precision, threads: 1, limits, log: silentLog });
  const answers: number[][] = [];
  const { eosTokenIds } = await readTextModel(modelDirectory);
  const sampling = { ...PLAIN_SAMPLING, temperature: 0, seed: 1, maxTokens: ANSWER_TOKENS, stopTokenIds: eosTokenIds };
  for (const promptTokens of prompts) {
    const request = {
      ...PLAIN_REQUEST,
      requestId: String(answers.length),
      promptTokens,
      adapter: null,
      n: 1,
      sampling,
    };
    const answer: number[] = [];
    for await (const { tokenId } of engine.generate(request, AbortSignal.timeout(600_000))) answer.push(tokenId);
    answers.push(answer);
  }
  await engine.close();
  return answers;
}

async function compareAnswers(model: string, directory: string): Promise<void> {
  const text = await readTextModel(directory);
  const encoder = createConversationEncoder(model, text, Infinity);
  const asked = JSON.parse(readFileSync(PROMPTS, 'utf8')) as string[];
  const prompts = asked.map((content) =>
    encoder.encode(encoder.renderPrompt([{ role: 'user', content }], { tools: null })),
  );
  const exact = await answersOf(directory, 'float32', prompts);
  const texts = prompts.map((prompt, i) => ({
    tokens: [...prompt, ...exact[i]!],
    isMeasured: (index: number) => index >= prompt.length,
  }));
  await compare(model, [[directory, texts]], async (precision) => {
    const answers = await answersOf(directory, precision, prompts);
    const equal = answers.filter((answer, i) => String(answer) === String(exact[i])).length;
    return ` ${equal} of ${answers.length} |`;
  });
}

async function compareYours(model: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'whetstone-precision-'));
  const directory = model.endsWith('.gguf') ? await makeGgufDirectory(model, scratch) : model;
  const name = basename(model);
  if (flags.text) await compare(name, [[directory, await textsOfFile(directory, flags.text)]]);
  else await compareAnswers(name, directory);
  await rm(scratch, { recursive: true });
}

const { values: flags } = parseArgs({ options: { model: { type: 'string' }, text: { type: 'string' } } });
const equal = flags.model && !flags.text ? ' equal greedy answers |' : '';
console.log(`| model | precision | perplexity | mean KL | largest KL | mean change | same most likely token |${equal}`);
console.log(`| --- | --- | ---: | ---: | ---: | ---: | ---: |${equal && ' ---: |'}`);
if (flags.model) await compareYours(flags.model);
else await compareOurs();
