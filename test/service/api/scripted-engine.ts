// An engine that writes a given script, token by token: reasoning, valid calls and broken ones, which a model with random weights
// never writes. Prompts, limits and everything else are real.
import type { GenerateRequest, InferenceEngine, TokenEvent } from '#engine/inference-engine';
import type { TextModel } from '#text/text-model';
import { shareTestServer, type TestServer } from '../../support/api/test-server.ts';

export interface Script {
  /** What it writes, or what it writes after a prompt. */
  text: string | ((prompt: string) => string);
  /** The last request that it received. */
  asked: GenerateRequest | null;
}

/** A server for the tests of a file, whose model writes the script. */
export async function shareScriptedServer(script: Script): Promise<TestServer> {
  const server: TestServer = await shareTestServer({
    wrapEngine: (real) => speakScript(real, () => server.model.text, script),
  });
  return server;
}

/** Ends with the model's end-of-turn token, or earlier at `maxTokens`. */
export function speakScript(real: InferenceEngine, text: () => TextModel, script: Script): InferenceEngine {
  return {
    contextLength: real.contextLength,
    vocabSize: real.vocabSize,
    status: () => real.status(),
    prepare: (...call) => real.prepare(...call),
    loadAdapter: (adapter) => real.loadAdapter(adapter),
    unloadAdapter: (id) => real.unloadAdapter(id),
    close: () => real.close(),
    generate(request) {
      script.asked = request;
      const { tokenizer, eosTokenIds } = text();
      const written =
        typeof script.text === 'string'
          ? script.text
          : script.text(tokenizer.decode(request.promptTokens, { skipSpecialTokens: false }));
      const said = [...tokenizer.encode(written), eosTokenIds[0]!];
      const cancelled = new Set<number>();
      async function* events(): AsyncGenerator<TokenEvent> {
        for (let choiceIndex = 0; choiceIndex < request.n; choiceIndex++) {
          for (const [i, tokenId] of said.entries()) {
            if (cancelled.has(choiceIndex)) break;
            const isLast = i === said.length - 1;
            const isFull = i + 1 === request.sampling.maxTokens;
            const finishReason = isLast ? 'stop' : isFull ? 'length' : null;
            const prompt = i === 0 && choiceIndex === 0 ? { prompt: { cachedTokenCount: 3, logprobs: null } } : {};
            yield { choiceIndex, tokenId, logprob: -0.5, topLogprobs: [], finishReason, ...prompt };
            if (isFull) break;
          }
        }
      }
      return { [Symbol.asyncIterator]: () => events(), cancelChoice: (index) => void cancelled.add(index) };
    },
  };
}
