// An SFT job's rows teach a model to answer and then to stop by itself, whatever the chat template puts at the end of a turn and whatever
// the tokenizer puts at the beginning of a text: tiny models with random weights learn two answers by heart, and are asked.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { PLAIN_REQUEST, type InferenceEngine } from '#engine/inference-engine';
import { trainSft } from '#training/sft-job';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { encoderOf, examples } from '../../support/golden/examples.ts';
import { NO_LIMITS } from '../../support/golden/no-limits.ts';
import { planRows } from '../../support/training/planned-sft.ts';
import { aSession } from '../../support/learning/a-session.ts';

const ANSWERS = [
  ['Name a tool.', 'the number'],
  ['And another?', 'the weather'],
] as const;
const asked = (question: string) => ({ role: 'user', content: question });
const ROWS = [
  {
    messages: ANSWERS.flatMap(([question, content]) => [asked(question), { role: 'assistant', content }]),
    tools: null,
  },
];
const KINDS = [
  ['llama2', 'pieces-prefix'],
  ['mistral', 'pieces-prefix'],
  ['chatml', 'bytes-nfc'],
  ['chatml-broken-line', 'bytes'],
  ['zephyr', 'unigram-always'],
  ['no-end', 'pieces-prefix'],
  ['llama3', 'bytes'],
  ['gemma', 'pieces-plain'],
  ['phi3', 'pieces-prefix'],
  ['glm4moe', 'bytes'],
  ['cohere', 'bytes-nfc'],
  ['gptoss', 'bytes'],
] as const;
const signal = () => AbortSignal.timeout(60_000);

test.each(KINDS)(
  '%s with the tokenizer %s',
  async (template, kind) => {
    const example = examples.cases.find((each) => each.template === template && each.tokenizer === kind)!;
    const { encoder, tokenizer, eosTokenIds } = encoderOf(example);
    const modelDirectory = await writeTinyChatModel({ vocab_size: encoder.vocabSize });
    const scratch = await mkdtemp(join(tmpdir(), 'examples-stop-'));
    const trainer = await openOnnxTrainingEngine({ modelDirectory, threads: 1, memoryBytes: 2e9, log: silentLog });
    const limits = { ...DEFAULT_INFERENCE_LIMITS, cacheBytes: 32 * 2 ** 20 };
    const sampler = await openOnnxInferenceEngine({ modelDirectory, threads: 1, limits, log: silentLog });
    onTestFinished(async () => {
      await Promise.all([trainer.close(), sampler.close()]);
      await Promise.all([modelDirectory, scratch].map((path) => rm(path, { recursive: true })));
    });
    const config = { learningRate: 1e-2, batchSize: 1, epochs: 60 };
    const plan = await planRows(ROWS, config, { encoder, budget: NO_LIMITS });
    const session = await trainer.open(aSession({ lora: { rank: 16, alpha: 32, seed: 1, unembed: true } }), signal());
    const losses: number[] = [];
    for await (const { loss } of trainSft(session, plan, 0)) losses.push(loss!);
    await session.save(scratch, { resumable: false });
    await session.close();
    expect(losses.at(-1)!).toBeLessThan(0.05);

    const messages: { role: string; content: string }[] = [];
    for (const [question, content] of ANSWERS) {
      messages.push(asked(question));
      const promptTokens = encoder.encode(encoder.renderPrompt(messages, { tools: null }));
      const { ids, finish } = await answer(sampler, scratch, promptTokens, eosTokenIds);
      expect(finish).toBe('stop');
      expect(tokenizer.decode(ids)).toContain(content);
      messages.push({ role: 'assistant', content });
    }
  },
  120_000,
);

async function answer(
  engine: InferenceEngine,
  directory: string,
  promptTokens: readonly number[],
  endTokenIds: readonly number[],
) {
  const ids: number[] = [];
  let finish: string | null = null;
  const sampling = { ...PLAIN_SAMPLING, temperature: 0, maxTokens: 60, endTokenIds, stopTokenIds: endTokenIds };
  const request = { ...PLAIN_REQUEST, requestId: 'r', promptTokens, adapter: { id: 'a', directory }, sampling, n: 1 };
  for await (const { tokenId, finishReason } of engine.generate(request, signal())) {
    ids.push(tokenId);
    finish = finishReason;
  }
  return { ids, finish };
}
