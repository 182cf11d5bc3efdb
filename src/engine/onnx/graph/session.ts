// Runs a graph in ONNX Runtime. Typed arrays in and out; inputs are read in place, outputs are fresh copies. `run` blocks
// this thread while it computes, which is why engines live in child processes. Inputs that seldom change can be held: a
// graph of hundreds of inputs that runs a hundred times a second would otherwise spend its time in wrapping them.
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as onnx from 'onnxruntime-common';
import type { Graph } from './graph.ts';
import { InferenceSession, Tensor } from './onnx-runtime.ts';
import { paddedLength, serializeGraph, type SerializedModel } from './to-onnx.ts';

/** Above this, weights go through a file that is deleted once it is mapped. */
const IN_MEMORY_BYTES_MAX = 256 * 1024 * 1024;

/** Float32, int64, or bool in bytes of 0 and 1. */
export type Feed = { data: Float32Array | BigInt64Array | Uint8Array; dims: readonly number[] };

export interface Session {
  /** Inputs for this run and all that follow, until others are held under their names. Their arrays may change; till then they stay in memory. */
  hold(feeds: Readonly<Record<string, Feed>>): void;
  /** Results by output name; Float32Array unless the output is int64. */
  run(feeds: Readonly<Record<string, Feed>>): Promise<Readonly<Record<string, Float32Array>>>;
  close(): Promise<void>;
}

export interface SessionOptions {
  threads: number;
  /** Reuse of buffers between runs of the same shape; costs memory when shapes vary. */
  memoryPattern?: boolean;
}

export async function openSession(graph: Graph, { threads, memoryPattern = false }: SessionOptions): Promise<Session> {
  const options: onnx.InferenceSession.SessionOptions = {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableMemPattern: memoryPattern,
    // Sums of signed by unsigned bytes without overflow on x86 processors that lack VNNI, at the price of speed there.
    extra: { session: { x64quantprecision: '1' } },
    logSeverityLevel: 3,
  };
  const weightBytes = graph.initializers.reduce((sum, { data }) => sum + data.byteLength, 0);
  const session =
    weightBytes > IN_MEMORY_BYTES_MAX
      ? await loadThroughFile(serializeGraph(graph, 'weights.bin'), options)
      : await InferenceSession.create(serializeGraph(graph, null).model, options);
  const held: Record<string, onnx.Tensor> = {};
  const wrap = (feeds: Readonly<Record<string, Feed>>, into: Record<string, onnx.Tensor>): void => {
    for (const name in feeds) into[name] = toTensor(feeds[name]!);
  };
  return {
    hold: (feeds) => wrap(feeds, held),
    async run(feeds) {
      const tensors = Object.create(held) as Record<string, onnx.Tensor>;
      wrap(feeds, tensors);
      const results = await session.run(tensors);
      return Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, tensor.data as Float32Array]));
    },
    close: () => session.release(),
  };
}

function toTensor({ data, dims }: Feed): onnx.Tensor {
  if (data instanceof Float32Array) return new Tensor('float32', data, dims);
  if (data instanceof BigInt64Array) return new Tensor('int64', data, dims);
  return new Tensor('bool', data, dims);
}

async function loadThroughFile({ model, external }: SerializedModel, options: onnx.InferenceSession.SessionOptions) {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-graph-'));
  try {
    const weights = await open(join(directory, 'weights.bin'), 'w');
    for (const bytes of external) {
      await weights.write(bytes);
      await weights.write(new Uint8Array(paddedLength(bytes.length) - bytes.length));
    }
    await weights.close();
    const path = join(directory, 'model.onnx');
    const file = await open(path, 'w');
    await file.writeFile(model);
    await file.close();
    return await InferenceSession.create(path, options);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
