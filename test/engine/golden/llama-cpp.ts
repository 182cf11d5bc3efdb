// llama.cpp through node-llama-cpp, if the benchmarks' peers are installed: its output for a GGUF file.

export interface LlamaCpp {
  /** The tokens after `prompt`, with an adapter's file or null. */
  greedy(path: string, adapter: string | null, prompt: readonly number[], count: number): Promise<number[]>;
  /** `texts` tokenized; special tokens in them are recognised. */
  tokenize(path: string, texts: readonly string[]): Promise<number[][]>;
  close(): Promise<void>;
}

const ENTRY = new URL('../../../bench/peers/node_modules/node-llama-cpp/dist/index.js', import.meta.url).href;

/** Null: the peers are not installed. */
export async function findLlamaCpp(): Promise<(() => Promise<LlamaCpp>) | null> {
  const peer = (await import(/* @vite-ignore */ ENTRY).catch(() => null)) as NodeLlamaCpp | null;
  return peer === null ? null : () => openLlamaCpp(peer);
}

async function openLlamaCpp(peer: NodeLlamaCpp): Promise<LlamaCpp> {
  const llama = await peer.getLlama({
    gpu: false,
    build: 'never',
    maxThreads: 1,
    logLevel: peer.LlamaLogLevel.disabled,
  });
  return {
    async greedy(path, adapter, prompt, count) {
      const model = await llama.loadModel({ modelPath: path });
      const lora = adapter === null ? {} : { lora: { adapters: [{ filePath: adapter }] } };
      const context = await model.createContext({ contextSize: 256, threads: 1, flashAttention: false, ...lora });
      const taken: number[] = [];
      for await (const token of context.getSequence().evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
        taken.push(token);
        if (taken.length === count) break;
      }
      await context.dispose();
      await model.dispose();
      return taken;
    },
    async tokenize(path, texts) {
      const model = await llama.loadModel({ modelPath: path, vocabOnly: true });
      const ids = texts.map((text) => [...model.tokenize(text, true, 'trimLeadingSpace')]);
      await model.dispose();
      return ids;
    },
    close: () => llama.dispose(),
  };
}

/** The part of node-llama-cpp 3 that we use, so that types check if the peers are not installed. */
interface NodeLlamaCpp {
  LlamaLogLevel: { disabled: unknown };
  getLlama(options: object): Promise<{
    loadModel(options: object): Promise<{
      tokenize(text: string, specialTokens: boolean, options?: string): readonly number[];
      createContext(options: object): Promise<{
        getSequence(): { evaluate(tokens: readonly number[], options: object): AsyncIterable<number> };
        dispose(): Promise<void>;
      }>;
      dispose(): Promise<void>;
    }>;
    dispose(): Promise<void>;
  }>;
}
