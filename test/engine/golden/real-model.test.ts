// A real model, SmolLM2-135M-Instruct from its GGUF file, compared with Transformers, PEFT and llama.cpp: prompt ids, greedy answers, log-probabilities at
// the end of long texts in every precision, and the gradient of an adapter. python/golden/make_real_model.py made the values.
// Skipped where the file was not fetched.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { SERVING_PRECISIONS, type ServingPrecision } from '#engine/capabilities';
import { PLAIN_REQUEST, type InferenceEngine, type TokenEvent } from '#engine/inference-engine';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { readDecoderConfig } from '#model-files/decoder-config';
import { exportGgufModel } from '#model-files/gguf/export-gguf';
import { makeGgufDirectory } from '#model-files/gguf/gguf-model';
import { createLoraAdapter, linearLayers } from '#model-files/lora';
import { writePeftDirectory } from '#model-files/peft-directory';
import { openSafetensors } from '#model-files/safetensors';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { readTextModel, type TextModel } from '#text/text-model';
import { crossEntropyLoss } from '#training/losses';
import { maxDistance } from '../../support/golden/distance.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { trainRow } from '../../support/learning/one-row.ts';
import { plainRow } from '../../support/learning/tiny-decoders.ts';
import { skipUnless, skipWithout } from '../../support/skipping.ts';
import { findLlamaCpp } from './llama-cpp.ts';

interface Expected {
  readonly model: { readonly file: string; readonly sha256: string };
  readonly promptIds: readonly (readonly number[])[];
  readonly answers: readonly { readonly tokens: readonly number[]; readonly logprobs: readonly number[] }[];
  /** By the length of the text, of its last tokens. */
  readonly long: Readonly<Record<string, readonly number[]>>;
  readonly adapter: {
    readonly rank: number;
    readonly alpha: number;
    readonly targets: readonly string[];
    readonly logprobs: readonly number[];
    readonly gradientNorms: Readonly<Record<string, number>>;
  };
}

const llamaCpp = await findLlamaCpp();
const expected = JSON.parse(readFileSync('test/support/golden/fixtures/real-model.json', 'utf8')) as Expected;
const file = join('.whetstone/models', expected.model.file);
const prompts = JSON.parse(readFileSync('bench/prompts.json', 'utf8')) as string[];

/** Lengths that take seconds. The others are for the table of docs/guides/models.md. */
const LENGTHS = process.env.WHETSTONE_LONG ? Object.keys(expected.long) : ['64', '512'];
/** Largest distance of a log-probability in float32, nats, and the mean one of a text: of rounded weights, a half more than was measured. */
const EXACT = 1e-4;
const MEAN_MAX = { float32: EXACT, int8: 0.3, w8a8: 0.6 } satisfies Record<ServingPrecision, number>;

describe(
  'SmolLM2-135M-Instruct',
  skipUnless(existsSync(file), `${file} is not there (examples/real-model/fetch.sh)`),
  () => {
    let scratch: string;
    let modelDirectory: string;
    let text: TextModel;
    beforeAll(async () => {
      scratch = await mkdtemp(join(tmpdir(), 'whetstone-real-'));
      modelDirectory = await makeGgufDirectory(file, scratch);
      text = await readTextModel(modelDirectory);
    });
    afterAll(() => rm(scratch, { recursive: true }));

    test('the file is the one that Transformers read', () => {
      expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(expected.model.sha256);
    });

    test('prompts have the ids of Transformers', () => {
      const encoder = createConversationEncoder('real', text, Infinity);
      const ids = prompts.map((content) => [
        ...encoder.encode(encoder.renderPrompt([{ role: 'user', content }], { tools: null })),
      ]);
      expect(ids).toEqual(expected.promptIds);
    });

    test.each(SERVING_PRECISIONS)(
      '%s: answers, and the ends of long texts, are as far from Transformers as it rounds',
      async (precision) => {
        const limits = DEFAULT_INFERENCE_LIMITS;
        const engine = await openOnnxInferenceEngine({ modelDirectory, precision, threads: 1, limits, log: silentLog });
        const distances = new Map<string, number[]>();
        const compare = (of: string, found: readonly number[], right: readonly number[]) =>
          void distances.set(of, [
            ...(distances.get(of) ?? []),
            ...found.map((logprob, i) => Math.abs(logprob - right[i]!)),
          ]);
        for (const [i, { tokens, logprobs }] of expected.answers.entries()) {
          const prompt = expected.promptIds[i]!;
          if (precision === 'float32') {
            const events = await eventsOf(engine, prompt, tokens.length);
            expect(events.map(({ tokenId }) => tokenId)).toEqual(tokens);
            compare(
              'sampled',
              events.map(({ logprob }) => logprob),
              logprobs,
            );
          }
          compare('answers', await promptLogprobs(engine, [...prompt, ...tokens], tokens.length), logprobs);
        }
        const license = text.tokenizer.encode(readFileSync('LICENSE', 'utf8'));
        for (const length of LENGTHS) {
          const right = expected.long[length]!;
          const ids = Array.from({ length: Number(length) }, (_, i) => license[i % license.length]!);
          compare(length, await promptLogprobs(engine, ids, right.length), right);
        }
        await engine.close();
        for (const [of, found] of distances) {
          const mean = found.reduce((sum, distance) => sum + distance, 0) / found.length;
          const figures = `${precision}, ${of}: ${mean.toExponential(1)} nats, at most ${Math.max(...found).toExponential(1)}`;
          if (process.env.WHETSTONE_LONG) console.log(figures);
          expect(mean, figures).toBeLessThan(MEAN_MAX[precision]);
          if (precision === 'float32') expect(Math.max(...found), figures).toBeLessThan(EXACT);
        }
      },
      600_000,
    );

    test('log-probabilities with an adapter, and the gradient of each of its matrices, are those of PEFT', async () => {
      const { rank, alpha, targets, logprobs, gradientNorms } = expected.adapter;
      const layers = linearLayers(await readDecoderConfig(modelDirectory));
      const adapter = createLoraAdapter(layers, { rank, alpha, seed: 0, targets });
      for (const [name, tensor] of adapter.tensors) fillWithWave(name, tensor, rank, targets);
      const directory = join(scratch, 'adapter');
      await mkdir(directory);
      await writePeftDirectory(directory, adapter, layers, 'real');
      const engine = await openOnnxTrainingEngine({ modelDirectory, threads: 1, memoryBytes: 4e9, log: silentLog });
      const session = await engine.open(
        aSession({ from: directory, lora: { rank, alpha, seed: 0 } }),
        AbortSignal.timeout(60_000),
      );
      const { tokens } = expected.answers[0]!;
      const ids = [...expected.promptIds[0]!, ...tokens];
      const weights = ids.slice(1).map((_, i) => (i >= ids.length - 1 - tokens.length ? 1 / tokens.length : 0));
      const result = await trainRow(session, plainRow(ids, { weights }), crossEntropyLoss);
      const saved = join(scratch, 'gradients');
      await mkdir(saved);
      await session.save(saved, { resumable: false, gradients: true });
      await session.close();
      await engine.close();
      expect(maxDistance(result.logprobs!.slice(-tokens.length), logprobs)).toBeLessThan(EXACT);
      const gradients = await openSafetensors(join(saved, 'gradients.safetensors'));
      expect(gradients.names().length).toBe(Object.keys(gradientNorms).length);
      for (const name of gradients.names()) {
        const norm = Math.hypot(...(await gradients.read(name)));
        expect(Math.abs(norm / gradientNorms[name]! - 1), name).toBeLessThan(1e-3);
      }
      await gradients.close();
    }, 300_000);

    test(
      'llama.cpp reads the same ids, and its greedy answers in float32 have the same tokens',
      { ...skipWithout('LLAMA_CPP', llamaCpp !== null), timeout: 600_000 },
      async () => {
        const llama = await llamaCpp!();
        const license = readFileSync('LICENSE', 'utf8');
        expect(await llama.tokenize(file, [license])).toEqual([[...text.tokenizer.encode(license)]]);
        const exported = join(scratch, 'float32.gguf');
        await exportGgufModel({ base: modelDirectory, adapter: null, out: exported, name: 'real' }, 'F32');
        for (const [i, { tokens }] of expected.answers.entries())
          expect(await llama.greedy(exported, null, expected.promptIds[i]!, tokens.length)).toEqual(tokens);
        await llama.close();
      },
    );
  },
);

async function eventsOf(
  engine: InferenceEngine,
  promptTokens: readonly number[],
  maxTokens: number,
  promptLogprobs: number | null = null,
) {
  const sampling = { ...PLAIN_SAMPLING, temperature: 0, seed: 1, maxTokens, promptLogprobs };
  const request = { ...PLAIN_REQUEST, requestId: 'golden', promptTokens, adapter: null, n: 1, sampling };
  const events: TokenEvent[] = [];
  for await (const event of engine.generate(request, AbortSignal.timeout(600_000))) events.push(event);
  return events;
}

/** Of the last tokens, teacher-forced. */
async function promptLogprobs(engine: InferenceEngine, ids: readonly number[], count: number): Promise<number[]> {
  const [first] = await eventsOf(engine, ids, 1, 0);
  return first!.prompt!.logprobs!.slice(-count).map((ranked) => ranked![0]!.logprob);
}

/** The same rule as `wave` and `set_adapter` of make_real_model.py. */
function fillWithWave(name: string, tensor: Float32Array, rank: number, targets: readonly string[]): void {
  const [, layer, target, matrix] = /layers\.(\d+)\.self_attn\.(\w+)\.lora_([AB])/.exec(name)!;
  const isA = matrix === 'A';
  const columns = isA ? tensor.length / rank : rank;
  const phase = 10 * Number(layer) + 2 * targets.indexOf(target!) + (isA ? 0 : 1);
  for (let i = 0; i < tensor.length; i++)
    tensor[i] = (isA ? 0.05 : 0.01) * Math.sin(phase + 3 * Math.floor(i / columns) + 0.1 * (i % columns));
}
