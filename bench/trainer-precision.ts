// `npm run bench -- trainer-precision [--prompts 6]`: how far each precision of the trainer is from each of the sampler before any training:
// log-ratios over answers of the starter to fresh prompts, as a job measures them (docs/decisions/0023). Prints the table of
// docs/guides/models.md.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { silentLog } from '#base/log';
import { createRandom } from '#base/random';
import { PLAIN_SAMPLING } from '#domain/sampling';
import {
  SERVING_PRECISIONS,
  TRAINING_PRECISIONS,
  type ServingPrecision,
  type TrainingPrecision,
} from '#engine/capabilities';
import { PLAIN_REQUEST } from '#engine/inference-engine';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import type { TrainingRow } from '#engine/training-engine';
import { measureMismatch, type ComparedRow } from '#training/sampler-mismatch';
import { tokenizeConversation } from '../scripts/starter/make-corpus.ts';
import { createStarterEncoder, parseVocabulary } from '../scripts/starter/model-files.ts';
import { SKILLS } from '../scripts/starter/world/world.ts';
import { aSession } from '../test/support/learning/a-session.ts';
import { sharedPromptRow } from '../test/support/learning/packed-row.ts';

const modelDirectory = 'models/starter';
const SEED = 30_000; // differs from the corpus's
const CHOICES = 4;
const TOKENS = 32;
/** Of the loss, by default. */
const CLIP = { epsilon: 0.2, epsilonHigh: 0.2 };

const { values: flags } = parseArgs({ options: { prompts: { type: 'string', default: '12' } } });
const signal = () => AbortSignal.timeout(600_000);

/** The text before the first word that the model generates. */
function freshPrompts(): number[][] {
  const encode = createStarterEncoder(parseVocabulary(readFileSync(`${modelDirectory}/tokenizer.json`, 'utf8')));
  const random = createRandom(SEED);
  return SKILLS.flatMap((skill, i) =>
    Array.from({ length: Number(flags.prompts) }, () => {
      const { tokens, weights } = tokenizeConversation(encode, skill.converse(random), i);
      return tokens.slice(0, weights.indexOf(1));
    }),
  );
}

interface Rollout {
  readonly row: TrainingRow;
  readonly sampled: Float32Array;
}

async function sampleWith(precision: ServingPrecision): Promise<Rollout[]> {
  const limits = DEFAULT_INFERENCE_LIMITS;
  const engine = await openOnnxInferenceEngine({ modelDirectory, precision, threads: 1, limits, log: silentLog });
  const rollouts = [];
  for (const [i, promptTokens] of freshPrompts().entries()) {
    const sampling = { ...PLAIN_SAMPLING, seed: i, temperature: 1, maxTokens: TOKENS };
    const choices = Array.from({ length: CHOICES }, () => ({ tokens: [] as number[], logprobs: [] as number[] }));
    const request = { ...PLAIN_REQUEST, requestId: String(i), promptTokens, adapter: null, sampling, n: CHOICES };
    for await (const { choiceIndex, tokenId, logprob } of engine.generate(request, signal())) {
      choices[choiceIndex]!.tokens.push(tokenId);
      choices[choiceIndex]!.logprobs.push(logprob);
    }
    const completions = choices.map(({ tokens }) => tokens);
    const sampled = Float32Array.from(choices.flatMap(({ logprobs }) => logprobs));
    rollouts.push({ row: sharedPromptRow(promptTokens, completions), sampled });
  }
  await engine.close();
  return rollouts;
}

async function compareWith(precision: TrainingPrecision, rollouts: readonly Rollout[]): Promise<ComparedRow[]> {
  const engine = await openOnnxTrainingEngine({
    modelDirectory,
    precision,
    threads: 1,
    memoryBytes: 1e9,
    log: silentLog,
  });
  const session = await engine.open(aSession(), signal());
  const compared = [];
  for (const { row, sampled } of rollouts) {
    const staleness = new Float32Array(sampled.length);
    compared.push({ sampled, staleness, trainer: (await session.logprobs([row]))[0]! });
  }
  await session.close();
  await engine.close();
  return compared;
}

console.log('| sampler | trainer | tokens | mean log-ratio | 99th percentile of its size |');
console.log('| --- | --- | ---: | ---: | ---: |');
for (const serving of SERVING_PRECISIONS) {
  const rollouts = await sampleWith(serving);
  for (const training of TRAINING_PRECISIONS) {
    const { tokens, mean, p99 } = measureMismatch(await compareWith(training, rollouts), CLIP)!.unchanged!;
    console.log(`| ${serving} | ${training} | ${tokens} | ${mean.toExponential(1)} | ${p99.toExponential(1)} |`);
  }
}
