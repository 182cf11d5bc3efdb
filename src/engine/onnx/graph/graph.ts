// A computation as a list of nodes in the order they were created, which is a topological order. Knows shapes and dtypes;
// does not know what an op computes (ops.ts), how to differentiate it (autodiff.ts) or how to run it (session.ts).
import { invariant } from '#base/invariant';

export type Dtype = 'float32' | 'float16' | 'int64' | 'bool' | 'uint8' | 'int8';

export const BYTES_PER_ELEMENT: Readonly<Record<Dtype, number>> = {
  float32: 4,
  float16: 2,
  int64: 8,
  bool: 1,
  uint8: 1,
  int8: 1,
};

/** A number, or the name of a size that is known only when the graph runs (`'batch'`, `'tokens'`). */
export type Dim = number | string;
export type Shape = readonly Dim[];

export interface Value {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: Shape;
  /** Null for inputs and initializers. */
  readonly producer: Node | null;
}

export type Attribute = number | string | readonly number[] | { readonly float: number } | Graph;

/** Gradients of a node's inputs and captured values, given those of its outputs (null: zero). Only `wanted` ones are needed. */
export type GradientRule = (
  g: Graph,
  node: Node,
  grads: readonly (Value | null)[],
  wanted: readonly boolean[],
) => readonly (Value | null)[];

export interface Node {
  readonly op: string;
  /** '' is ai.onnx; 'com.microsoft' is ONNX Runtime's own. */
  readonly domain: string;
  /** Null for an omitted optional input. */
  readonly inputs: readonly (Value | null)[];
  readonly outputs: readonly Value[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** Values of this graph that a graph among the attributes reads. */
  readonly captured: readonly Value[];
  /** The gradient rule, if the op's name does not determine it. */
  readonly gradient: GradientRule | null;
}

export interface NodeExtras {
  readonly domain?: string;
  readonly captured?: readonly Value[];
  readonly gradient?: GradientRule;
}

export type InitializerData = Float32Array | BigInt64Array | Uint8Array | Int8Array;

/** The position of a constant's data in a file. */
export interface FileRange {
  readonly path: string;
  readonly offset: number;
  readonly byteLength: number;
}

/** A constant that exists before its graph. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly data: InitializerData | FileRange;
}

export interface Initializer {
  readonly value: Value;
  readonly data: InitializerData | FileRange;
}

export interface OutputSpec {
  readonly dtype: Dtype;
  readonly shape: Shape;
}

export class Graph {
  readonly nodes: Node[] = [];
  readonly inputs: Value[] = [];
  readonly initializers: Initializer[] = [];
  readonly outputs: Value[] = [];
  #next = 0;
  readonly #prefix: string;
  readonly #integers = new Map<string, Value>();
  readonly #stored = new Map<string, Value>();

  /** A graph inside a node needs unique names: this is the prefix of all names it creates. */
  constructor(prefix = '') {
    this.#prefix = prefix;
  }

  input(name: string, dtype: Dtype, shape: Shape): Value {
    const value: Value = { name, dtype, shape, producer: null };
    this.inputs.push(value);
    return value;
  }

  /** The data is borrowed until the graph is serialized. */
  initializer(name: string, data: InitializerData, shape: readonly number[]): Value {
    const size = shape.reduce((a, b) => a * b, 1);
    invariant(data.length === size, `${name}: ${data.length} values for shape [${shape.join(', ')}]`);
    const value: Value = { name, dtype: dtypeOf(data), shape, producer: null };
    this.initializers.push({ value, data });
    return value;
  }

  /** Added under its own name, once per graph however often it is used. */
  stored({ name, dtype, shape, data }: StoredTensor): Value {
    const known = this.#stored.get(name);
    if (known) return known;
    const value: Value = { name, dtype, shape, producer: null };
    this.initializers.push({ value, data });
    this.#stored.set(name, value);
    return value;
  }

  scalar(x: number): Value {
    return this.initializer(this.name('scalar'), Float32Array.of(x), []);
  }

  /** uint8 `[]` */
  byte(x: number): Value {
    return this.initializer(this.name('byte'), Uint8Array.of(x), []);
  }

  /** int64 `[n]`, shared between uses. */
  integers(...values: readonly number[]): Value {
    const key = values.join(',');
    let value = this.#integers.get(key);
    if (!value) {
      value = this.initializer(this.name('integers'), BigInt64Array.from(values, BigInt), [values.length]);
      this.#integers.set(key, value);
    }
    return value;
  }

  node(
    op: string,
    inputs: readonly (Value | null)[],
    outputs: readonly OutputSpec[],
    attributes: Readonly<Record<string, Attribute>> = {},
    { domain = '', captured = [], gradient }: NodeExtras = {},
  ): readonly Value[] {
    const made: Value[] = [];
    const node: Node = { op, domain, inputs, outputs: made, attributes, captured, gradient: gradient ?? null };
    for (const spec of outputs) made.push({ ...spec, name: this.name(op), producer: node });
    this.nodes.push(node);
    return made;
  }

  /** For an attribute of a node of this graph. The name is used only once. */
  inner(stem: string): Graph {
    return new Graph(`${this.name(stem)}_`);
  }

  /** Leaves out nodes that no output needs. */
  prune(): void {
    const needed = new Set(this.outputs);
    const kept = [...this.nodes].reverse().filter((node) => {
      if (!node.outputs.some((y) => needed.has(y))) return false;
      for (const x of readBy(node)) if (x) needed.add(x);
      return true;
    });
    this.nodes.splice(0, Infinity, ...kept.reverse());
  }

  /** Values of outer graphs that the nodes read. */
  free(): readonly Value[] {
    const own = new Set([...this.inputs, ...this.initializers.map(({ value }) => value)]);
    for (const { outputs } of this.nodes) for (const y of outputs) own.add(y);
    const read = this.nodes.flatMap(readBy).filter((x) => x !== null);
    return [...new Set(read)].filter((x) => !own.has(x));
  }

  /** Makes the value an output of the graph under this name. */
  output(name: string, value: Value): void {
    const ours = value.producer !== null && this.nodes.includes(value.producer) && !this.outputs.includes(value);
    // Only a value made by a node of this graph, and without another name outside, can be renamed without a copy.
    const result = ours ? value : this.node('Identity', [value], [value])[0]!;
    (result as { name: string }).name = name;
    this.outputs.push(result);
  }

  /** A name that is not used elsewhere. */
  name(stem: string): string {
    return `${this.#prefix}${stem}_${this.#next++}`;
  }
}

function dtypeOf(data: InitializerData): Dtype {
  if (data instanceof Float32Array) return 'float32';
  if (data instanceof BigInt64Array) return 'int64';
  return data instanceof Int8Array ? 'int8' : 'uint8';
}

/** The values that a node reads: its inputs, and values of the surrounding graph that graphs among its attributes read. */
export const readBy = ({ inputs, captured }: Node): readonly (Value | null)[] => [...inputs, ...captured];

export const formatShape = (shape: Shape): string => `[${shape.join(', ')}]`;

/** NumPy broadcasting; symbolic sizes are equal only to themselves. */
export function broadcastShapes(a: Shape, b: Shape): Dim[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const x = a[i - (rank - a.length)] ?? 1;
    const y = b[i - (rank - b.length)] ?? 1;
    if (x === 1) return y;
    invariant(y === 1 || x === y, `shapes ${formatShape(a)} and ${formatShape(b)} do not broadcast`);
    return x;
  });
}

export const sameShape = (a: Shape, b: Shape): boolean => a.length === b.length && a.every((d, i) => d === b[i]);
