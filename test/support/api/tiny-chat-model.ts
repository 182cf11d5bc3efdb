// A base model that can chat, small enough for every test: a decoder with random weights and a real tokenizer and
// chat template. Its answers are nonsense, and always the same nonsense.
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#base/clock';
import { silentLog } from '#base/log';
import { createRandom } from '#base/random';
import type { AnswerParsers } from '#domain/answer-parsers';
import type { InferenceEngine } from '#engine/inference-engine';
import { createLoraAdapter, linearLayers } from '#model-files/lora';
import { writePeftDirectory } from '#model-files/peft-directory';
import { checkAdapter } from '#model-files/check-adapter';
import { parseDecoderConfig, readDecoderConfig } from '#model-files/decoder-config';
import { decoderParameters } from '#model-files/decoder-parameters';
import { DEFAULT_INFERENCE_LIMITS, type InferenceLimits } from '#engine/onnx/serving/inference-limits';
import { onnxCapabilities } from '#engine/onnx/onnx-backend';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { writeSafetensors } from '#model-files/safetensors';
import type { BaseModel } from '#services/models/base-models';
import { readTextModel } from '#text/text-model';
import { createVocabulary } from '#text/vocabulary';

const TOKENIZER = new URL('../golden/fixtures/tokenizers/qwen/', import.meta.url);
export const CONTEXT_LENGTH = 512;

export interface TinyChatModel extends BaseModel {
  readonly directory: string;
  close(): Promise<void>;
}

/** Its files in a directory of their own, which the caller removes. `changes` to its config.json make it another size. */
export async function writeTinyChatModel(changes: Readonly<Record<string, number>> = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-tiny-chat-'));
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja']) {
    await copyFile(new URL(name, TOKENIZER), join(directory, name));
  }
  const json = {
    model_type: 'qwen3',
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 16,
    intermediate_size: 48,
    vocab_size: 488,
    max_position_embeddings: CONTEXT_LENGTH,
    rms_norm_eps: 1e-6,
    tie_word_embeddings: true,
    ...changes,
  };
  const config = parseDecoderConfig(json);
  await writeFile(join(directory, 'config.json'), JSON.stringify(json));
  const random = createRandom(7);
  const tensors = decoderParameters(config).map(({ name, shape }) => ({
    name,
    shape,
    dtype: 'F32' as const,
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () =>
      name.includes('norm') ? 0.75 + random.next() / 2 : (random.next() - 0.5) * 0.7,
    ),
  }));
  await writeSafetensors(join(directory, 'model.safetensors'), tensors);
  return directory;
}

export async function openTinyChatModel(
  id: string,
  limits: Partial<InferenceLimits> = {},
  parsers?: AnswerParsers,
  changes?: Parameters<typeof writeTinyChatModel>[0],
): Promise<TinyChatModel> {
  const directory = await writeTinyChatModel(changes);
  const text = await readTextModel(directory, systemClock, parsers);
  const inference: InferenceEngine = await openOnnxInferenceEngine({
    modelDirectory: directory,
    threads: 1,
    limits: { ...DEFAULT_INFERENCE_LIMITS, cacheBytes: 64 * 1024 * 1024, ...limits },
    vocabulary: createVocabulary(text),
    log: silentLog,
  });
  const config = await readDecoderConfig(directory);
  const layers = linearLayers(config);
  return {
    id,
    createdAtMs: Date.UTC(2026, 0, 1),
    hiddenSize: config.hidden,
    text,
    inference,
    capabilities: onnxCapabilities('float32'),
    directory,
    writeFreshAdapter: (target, lora = { rank: 4, alpha: 8, seed: 1 }) =>
      writePeftDirectory(target, createLoraAdapter(layers, lora), layers, id),
    checkAdapter: (source) => checkAdapter(source, config, id),
    async close() {
      await inference.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
