// Runs a graph in ONNX Runtime. Typed arrays in and out; inputs are read in place, outputs are fresh copies. `run` blocks
// this thread while it computes, which is why engines run in child processes. Inputs that seldom change can be held: a
// graph of hundreds of inputs that runs a hundred times a second would otherwise spend its time wrapping them.
import type * as onnx from 'onnxruntime-common';
import { multipliesBytes, sumsBytesExactly } from './byte-products.ts';
import type { Graph } from './graph.ts';
import { InferenceSession, Tensor } from './onnx-runtime.ts';
import { serializeGraph } from './to-onnx.ts';

/** Float32, the bits of float16, int64, or bool in bytes of 0 and 1. */
export type Feed = { data: Float32Array | Uint16Array | BigInt64Array | Uint8Array; dims: readonly number[] };

export interface Session {
  /** Holds inputs for this and all later runs, until others replace them. Their contents may change; they stay in memory until replaced. */
  hold(feeds: Readonly<Record<string, Feed>>): void;
  /** Results by output name; Float32Array unless the output is int64 or float16, whose bits are returned as Uint16Array. */
  run(feeds: Readonly<Record<string, Feed>>): Promise<Readonly<Record<string, Float32Array>>>;
  close(): Promise<void>;
}

export interface SessionOptions {
  threads: number;
  /** Reuses buffers between runs of the same shape; uses more memory if shapes vary. */
  memoryPattern?: boolean;
  /**
   * Copies constant matrices into the order that the kernels read, and unmaps the file they came from: faster, but in memory
   * of this process alone; a product's sums then do not depend on its number of rows. Without it, constants stay pages of the file
   * that all processes share. Default: true.
   */
  packsConstants?: boolean;
  /** How long a thread without work waits for more by spinning before it sleeps. Default: ONNX Runtime's, long enough to never sleep within a run. */
  spinsMicroseconds?: number;
}

export async function openSession(graph: Graph, options: SessionOptions): Promise<Session> {
  const { threads, memoryPattern = false, packsConstants = true, spinsMicroseconds } = options;
  const { model, filesDirectory } = serializeGraph(graph);
  const overflows = multipliesBytes(graph) && !(await sumsBytesExactly());
  const session = await InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableMemPattern: memoryPattern,
    logSeverityLevel: 3,
    // Their names begin with "session.": each level of the object is one part of the name.
    extra: {
      session: {
        // If sums of signed by unsigned bytes overflow, weights become unsigned, which is slower.
        x64quantprecision: overflows ? '1' : '0',
        disable_prepacking: packsConstants ? '0' : '1',
        ...(spinsMicroseconds === undefined ? {} : { intra_op: { spin_duration_us: String(spinsMicroseconds) } }),
        ...(filesDirectory === null ? {} : { model_external_initializers_file_folder_path: filesDirectory }),
      },
    },
  });
  const heldFeeds: Record<string, onnx.Tensor> = {};
  const wrap = (feeds: Readonly<Record<string, Feed>>, into: Record<string, onnx.Tensor>): void => {
    for (const name in feeds) into[name] = toTensor(feeds[name]!);
  };
  return {
    hold: (feeds) => wrap(feeds, heldFeeds),
    async run(feeds) {
      const tensors = Object.create(heldFeeds) as Record<string, onnx.Tensor>;
      wrap(feeds, tensors);
      const results = await session.run(tensors);
      return Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, arrayOf(tensor)]));
    },
    close: () => session.release(),
  };
}

/** In Node 24 and later, which have 16-bit floats, the library returns those; a cache that stores them needs their bits. */
function arrayOf({ type, data }: onnx.Tensor): Float32Array {
  const { buffer, byteOffset, length } = data as Float32Array<ArrayBuffer>;
  return (type === 'float16' ? new Uint16Array(buffer, byteOffset, length) : data) as Float32Array;
}

function toTensor({ data, dims }: Feed): onnx.Tensor {
  if (data instanceof Float32Array) return new Tensor('float32', data, dims);
  if (data instanceof Uint16Array) return new Tensor('float16', data, dims);
  if (data instanceof BigInt64Array) return new Tensor('int64', data, dims);
  return new Tensor('bool', data, dims);
}
