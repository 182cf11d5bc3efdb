// Graph → ONNX ModelProto bytes (opset 18). Constants that lie in files stay there: the message names the place, and ONNX Runtime
// maps it. The message definitions are the part of onnx.proto3 that we write: field numbers from onnx/onnx (Apache-2.0).
import { basename, dirname } from 'node:path';
import protobuf from 'protobufjs';
import { invariant } from '#base/invariant';
import { Graph, type Attribute, type Dtype, type Initializer, type InitializerData, type Value } from './graph.ts';

const OPSET = 18;
const IR_VERSION = 9;

const DATA_TYPE: Record<Dtype, number> = { float32: 1, uint8: 2, int8: 3, int64: 7, bool: 9, float16: 10 };
const ATTRIBUTE = { float: 1, int: 2, string: 3, graph: 5, ints: 7 } as const;

const field = (type: string, id: number) => ({ type, id });
const list = (type: string, id: number) => ({ rule: 'repeated', type, id });

const Model = protobuf.Root.fromJSON({
  nested: {
    ModelProto: {
      fields: {
        irVersion: field('int64', 1),
        producerName: field('string', 2),
        graph: field('GraphProto', 7),
        opsetImport: list('OperatorSetIdProto', 8),
      },
    },
    OperatorSetIdProto: { fields: { domain: field('string', 1), version: field('int64', 2) } },
    GraphProto: {
      fields: {
        node: list('NodeProto', 1),
        name: field('string', 2),
        initializer: list('TensorProto', 5),
        input: list('ValueInfoProto', 11),
        output: list('ValueInfoProto', 12),
      },
    },
    NodeProto: {
      fields: {
        input: list('string', 1),
        output: list('string', 2),
        name: field('string', 3),
        opType: field('string', 4),
        attribute: list('AttributeProto', 5),
        domain: field('string', 7),
      },
    },
    AttributeProto: {
      fields: {
        name: field('string', 1),
        f: field('float', 2),
        i: field('int64', 3),
        s: field('bytes', 4),
        g: field('GraphProto', 6),
        ints: list('int64', 8),
        type: field('int32', 20),
      },
    },
    TensorProto: {
      fields: {
        dims: list('int64', 1),
        dataType: field('int32', 2),
        name: field('string', 8),
        rawData: field('bytes', 9),
        externalData: list('StringStringEntryProto', 13),
        dataLocation: field('int32', 14),
      },
    },
    StringStringEntryProto: { fields: { key: field('string', 1), value: field('string', 2) } },
    ValueInfoProto: { fields: { name: field('string', 1), type: field('TypeProto', 2) } },
    TypeProto: { fields: { tensorType: field('TensorTypeProto', 1) } },
    TensorTypeProto: { fields: { elemType: field('int32', 1), shape: field('TensorShapeProto', 2) } },
    TensorShapeProto: { fields: { dim: list('DimensionProto', 1) } },
    DimensionProto: { fields: { dimValue: field('int64', 1), dimParam: field('string', 2) } },
  },
}).lookupType('ModelProto');

export interface SerializedModel {
  readonly model: Uint8Array;
  /** The directory of the files that hold constants; null: the message holds all. */
  readonly filesDirectory: string | null;
}

export function serializeGraph(graph: Graph): SerializedModel {
  const directories = new Set<string>();
  const tensor = ({ value, data }: Initializer) => {
    const head = { dims: value.shape, dataType: DATA_TYPE[value.dtype], name: value.name };
    if (!('path' in data)) return { ...head, rawData: bytesOf(data) };
    directories.add(dirname(data.path));
    const entries = { location: basename(data.path), offset: String(data.offset), length: String(data.byteLength) };
    return { ...head, dataLocation: 1, externalData: Object.entries(entries).map(([key, value]) => ({ key, value })) };
  };
  const message = {
    irVersion: IR_VERSION,
    producerName: 'whetstone',
    opsetImport: [
      { domain: '', version: OPSET },
      { domain: 'com.microsoft', version: 1 },
    ],
    graph: graphMessage(graph, 'whetstone', tensor),
  };
  const model = Model.encode(message).finish();
  invariant(
    directories.size <= 1,
    `constants are in files of ${directories.size} directories, and ONNX Runtime accepts one`,
  );
  return { model, filesDirectory: [...directories][0] ?? null };
}

type TensorMessage = (initializer: Initializer) => object;

const graphMessage = (graph: Graph, name: string, tensor: TensorMessage): object => ({
  name,
  node: graph.nodes.map((node, i) => ({
    name: `${name}_${node.op}_${i}`,
    opType: node.op,
    domain: node.domain,
    input: node.inputs.map((x) => x?.name ?? ''),
    output: node.outputs.map((y) => y.name),
    attribute: Object.entries(node.attributes).map(([key, value]) => attribute(key, value, tensor)),
  })),
  initializer: graph.initializers.map(tensor),
  input: graph.inputs.map(valueInfo),
  output: graph.outputs.map(valueInfo),
});

const bytesOf = (data: InitializerData): Uint8Array => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

function attribute(name: string, value: Attribute, tensor: TensorMessage) {
  if (value instanceof Graph) return { name, type: ATTRIBUTE.graph, g: graphMessage(value, name, tensor) };
  if (typeof value === 'number') return { name, type: ATTRIBUTE.int, i: value };
  if (typeof value === 'string') return { name, type: ATTRIBUTE.string, s: new TextEncoder().encode(value) };
  if ('float' in value) return { name, type: ATTRIBUTE.float, f: value.float };
  return { name, type: ATTRIBUTE.ints, ints: value };
}

function valueInfo(value: Value) {
  const dim = value.shape.map((size) => (typeof size === 'number' ? { dimValue: size } : { dimParam: size }));
  return { name: value.name, type: { tensorType: { elemType: DATA_TYPE[value.dtype], shape: { dim } } } };
}
