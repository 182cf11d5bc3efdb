// Sends conversations to a model directory through the inference engine, as the service does: chat template, tokens, sampling, text.
// For evaluation; many questions are sent at once so that they share the engine's steps.
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { PLAIN_REQUEST, type InferenceEngine } from '#engine/inference-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { readTextModel } from '#text/text-model';
import type { Conversation } from './world/skill.ts';

const MAX_TOKENS = 64;

export interface AskOptions {
  readonly temperature: number;
  /** Answers to the conversation. */
  readonly n: number;
  readonly seed: number;
}

export interface Respondent {
  ask(conversation: Conversation, options: AskOptions): Promise<string[]>;
  close(): Promise<void>;
}

export async function openRespondent(modelDirectory: string, threads: number): Promise<Respondent> {
  const { tokenizer, chatTemplate, eosTokenIds } = await readTextModel(modelDirectory);
  if (!chatTemplate) throw new Error(`${modelDirectory} has no chat template`);
  const engine: InferenceEngine = await openOnnxInferenceEngine({
    modelDirectory,
    threads,
    limits: DEFAULT_INFERENCE_LIMITS,
    log: silentLog,
  });
  let requestCount = 0;

  return {
    async ask({ messages, tools }, { temperature, n, seed }) {
      const prompt = chatTemplate.render({ messages, tools, addGenerationPrompt: true });
      const request = {
        ...PLAIN_REQUEST,
        requestId: `ask-${requestCount++}`,
        promptTokens: tokenizer.encode(prompt),
        adapter: null,
        sampling: {
          ...PLAIN_SAMPLING,
          temperature,
          seed,
          maxTokens: MAX_TOKENS,
          stopTokenIds: eosTokenIds,
        },
        n,
      };
      const answers: number[][] = Array.from({ length: n }, () => []);
      for await (const { choiceIndex, tokenId } of engine.generate(request, new AbortController().signal)) {
        answers[choiceIndex]!.push(tokenId);
      }
      return answers.map((tokens) => tokenizer.decode(tokens));
    },
    close: () => engine.close(),
  };
}
