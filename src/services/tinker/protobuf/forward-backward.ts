// ForwardBackwardRequest and ForwardBackwardOutput. Field numbers are those of the SDK's descriptor (tinker 0.38).
import { AppError } from '#domain/errors';
import { createReadingBudget, type ReadingBudget } from './reading-budget.ts';
import { bytesOf, readTensor, readTokens, type WireTensor } from './tensors.ts';
import { createMessage, readFields, toDouble, toText, type WireField } from './wire.ts';

export interface TinkerDatum {
  readonly tokens: Int32Array;
  readonly inputs: ReadonlyMap<string, WireTensor>;
}

export interface ForwardBackwardHead {
  readonly runId: string;
  readonly seq: number;
  readonly data: readonly Uint8Array[];
  readonly lossName: string;
  readonly config: Readonly<Record<string, number | string>>;
  readonly forwardOnly: boolean;
  /** What is left for reading the data. */
  readonly budget: ReadingBudget;
}

/** The target run, and its data as bytes. Throws `invalid_request`. */
export function readForwardBackwardHead(bytes: Uint8Array): ForwardBackwardHead {
  const budget = createReadingBudget();
  let [runId, lossName, seq, forwardOnly] = ['', '', 0, false];
  const data: Uint8Array[] = [];
  const config = new Map<string, number | string>(); // a map, because keys are the client's
  const values = new Map<string, number | string>();
  for (const field of readFields(bytes, budget.fields)) {
    if (field.number === 1) runId = toText(field);
    if (field.number === 2) seq = field.value;
    if (field.number === 3) data.push(field.bytes);
    if (field.number === 4) lossName = toText(field);
    if (field.number === 5) readEntry(field, budget, (key, value) => config.set(key, toDouble(value)));
    if (field.number === 6) forwardOnly = field.value !== 0;
    if (field.number === 7)
      readEntry(field, budget, (key, value) => values.set(key, readConfigValue(value.bytes, budget)));
  }
  return { runId, seq, data, lossName, config: Object.fromEntries([...config, ...values]), forwardOnly, budget };
}

/** Which request it is, of one that cannot be read or ends early. Null: it does not say. */
export function readForwardBackwardNumber(bytes: Uint8Array): Pick<ForwardBackwardHead, 'runId' | 'seq'> | null {
  const { fields } = createReadingBudget();
  let [runId, seq] = ['', 0];
  try {
    for (const field of readFields(bytes, fields)) {
      if (field.number === 1) runId = toText(field);
      if (field.number === 2) seq = field.value;
      if (runId !== '' && seq > 0) break;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  return runId === '' || seq <= 0 ? null : { runId, seq };
}

/** Reads one datum of a head. `inputs`: the names that the loss reads; a tensor of another name is refused before it is decoded. */
export function readDatum(
  bytes: Uint8Array,
  index: number,
  inputs: readonly string[],
  budget: ReadingBudget,
): TinkerDatum {
  const chunks: Int32Array[] = [];
  const tensors = new Map<string, WireField>();
  for (const field of readFields(bytes, budget.fields)) {
    if (field.number === 1) chunks.push(readChunk(field.bytes, budget));
    if (field.number === 2) readEntry(field, budget, (key, value) => tensors.set(key, value));
  }
  const unread = [...tensors.keys()].find((name) => name !== TARGETS && !inputs.includes(name));
  if (unread !== undefined)
    throw new AppError(
      'invalid_request',
      `Datum ${index} cannot be used: this loss_fn does not read the input ${unread.slice(0, 100)}.`,
    );
  const tokens = new Int32Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    tokens.set(chunk, at);
    at += chunk.length;
  }
  return {
    tokens,
    inputs: new Map([...tensors].map(([name, { bytes: tensor }]) => [name, readTensor(tensor, name, budget)])),
  };
}

/** The input of every loss. */
const TARGETS = 'target_tokens';

/** `map<string, …>`: entries of key and value. */
function readEntry(
  { bytes }: WireField,
  { fields }: ReadingBudget,
  take: (key: string, value: WireField) => void,
): void {
  let key = '';
  let value: WireField | null = null;
  for (const field of readFields(bytes, fields)) {
    if (field.number === 1) key = toText(field);
    if (field.number === 2) value = field;
  }
  if (value) take(key, value);
}

function readConfigValue(bytes: Uint8Array, { fields }: ReadingBudget): number | string {
  let value: number | string = 0;
  for (const field of readFields(bytes, fields)) value = field.number === 2 ? toText(field) : toDouble(field);
  return value;
}

function readChunk(bytes: Uint8Array, { fields }: ReadingBudget): Int32Array {
  for (const { number, bytes: chunk } of readFields(bytes, fields)) {
    if (number !== 1)
      throw new AppError('invalid_request', 'Images and audio are not supported: the models here read text only.');
    for (const field of readFields(chunk, fields)) if (field.number === 1) return readTokens(field.bytes);
  }
  return new Int32Array(0);
}

export interface DatumLogprobs {
  readonly logprobs: Float32Array;
  /** Number of targets at each position; null: the list of targets is one-dimensional. */
  readonly width: number | null;
}

const FLOAT32 = 1;

/** Consecutive data of one width share a record, which keeps the data in order. */
export function writeForwardBackwardOutput(
  data: readonly DatumLogprobs[],
  metrics: Readonly<Record<string, number>>,
): Uint8Array {
  const output = createMessage().text(1, 'ArrayRecord');
  for (let begin = 0; begin < data.length;) {
    const { width } = data[begin]!;
    let end = begin;
    while (end < data.length && data[end]!.width === width) end++;
    output.message(2, writeRecord(data.slice(begin, end), width));
    begin = end;
  }
  for (const [name, value] of Object.entries(metrics))
    output.message(3, createMessage().text(1, name).double(2, value).done());
  return output.done();
}

function writeRecord(data: readonly DatumLogprobs[], width: number | null): Uint8Array {
  const offsets = new BigInt64Array(data.length + 1);
  data.forEach(({ logprobs }, i) => (offsets[i + 1] = offsets[i]! + BigInt(logprobs.byteLength)));
  const tensor = createMessage()
    .bytes(1, Buffer.concat(data.map(({ logprobs }) => bytesOf(logprobs))))
    .bytes(2, bytesOf(offsets))
    .integer(3, FLOAT32)
    .integers(4, width === null ? [] : [width])
    .done();
  const field = createMessage().text(1, 'logprobs').message(2, tensor).done();
  return createMessage().text(1, 'ArrayRecord').message(2, field).integer(3, data.length).done();
}
