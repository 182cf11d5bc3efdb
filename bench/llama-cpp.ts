// The peer for sampling: llama.cpp through node-llama-cpp, same shape, same threads, greedy. Null if bench/peers is not installed
// (`npm install --prefix bench/peers --ignore-scripts`).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DecoderConfig } from '#model-files/decoder-config';
import { writeRandomGguf } from './gguf.ts';
import { createSamplingClock, type Sampler } from './sampling.ts';

// The peers are a package of their own, so that users of Whetstone do not install them.
const ENTRY = new URL('./peers/node_modules/node-llama-cpp/dist/index.js', import.meta.url).href;

export async function openLlamaCpp(
  config: DecoderConfig,
  matrices: 'Q8_0' | 'F32',
  threads: number,
): Promise<Sampler | null> {
  const peer = (await import(ENTRY).catch(() => null)) as NodeLlamaCpp | null;
  if (!peer) return null;
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-bench-'));
  const path = join(directory, 'random.gguf');
  await writeRandomGguf(path, config, matrices);
  const llama = await peer.getLlama({
    gpu: false,
    build: 'never',
    maxThreads: threads,
    logLevel: peer.LlamaLogLevel.error,
  });
  const model = await llama.loadModel({ modelPath: path });
  return {
    name: `llama.cpp ${matrices.toLowerCase()}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`,
    async generate(prompts, newTokens) {
      const contextSize = Math.max(...prompts.map(({ length }) => length)) + newTokens + 8;
      const context = await model.createContext({ sequences: prompts.length, contextSize, batchSize: 512, threads });
      const sequences = prompts.map(() => context.getSequence());
      const clock = createSamplingClock();
      await Promise.all(
        sequences.map(async (sequence, i) => {
          let count = 0;
          for await (const _ of sequence.evaluate(prompts[i]!, { temperature: 0, yieldEogToken: true })) {
            clock.token(i);
            if (++count >= newTokens) break;
          }
        }),
      );
      await context.dispose();
      return clock.times();
    },
    async close() {
      await model.dispose();
      await llama.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What we use of node-llama-cpp 3, so that types check without the peers installed. */
interface NodeLlamaCpp {
  LlamaLogLevel: { error: unknown };
  getLlama(options: object): Promise<{
    loadModel(options: { modelPath: string }): Promise<{
      createContext(options: object): Promise<{
        getSequence(): { evaluate(tokens: readonly number[], options: object): AsyncIterable<number> };
        dispose(): Promise<void>;
      }>;
      dispose(): Promise<void>;
    }>;
    dispose(): Promise<void>;
  }>;
}
