import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { readDatum, readForwardBackwardHead, writeForwardBackwardOutput } from './forward-backward.ts';
import { CELLS_MAX, createReadingBudget, FIELDS_MAX } from './reading-budget.ts';
import { bytesOf, readTensor } from './tensors.ts';
import { createMessage, readFields, readIntegers, toDouble, toText } from './wire.ts';

const INPUTS = ['weights', 'logprobs'];
function readForwardBackward(bytes: Uint8Array) {
  const { data, budget, ...head } = readForwardBackwardHead(bytes);
  return { ...head, data: data.map((datum, index) => readDatum(datum, index, INPUTS, budget)) };
}
const integers = (values: readonly number[]) => bytesOf(BigInt64Array.from(values, BigInt));
const tensor = (bytes: Uint8Array, type: number, shape: readonly number[]) =>
  createMessage().message(1, bytes).integer(3, type).integers(4, shape).done();
const entry = (key: string, value: Uint8Array) => createMessage().text(1, key).message(2, value).done();

function request(): Uint8Array {
  const chunk = (tokens: readonly number[]) =>
    createMessage()
      .message(
        1,
        createMessage()
          .bytes(1, bytesOf(Int32Array.from(tokens)))
          .done(),
      )
      .done();
  const datum = createMessage()
    .message(1, chunk([1, 2]))
    .message(1, chunk([]))
    .message(1, chunk([3]))
    .message(2, entry('target_tokens', tensor(integers([2, 3, 0]), 2, [3])))
    .message(2, entry('weights', tensor(bytesOf(Float32Array.from([0, 0.5, -1])), 1, [3])))
    .done();
  const number = createMessage().double(1, 0.05).done();
  return createMessage()
    .text(1, 's:train:0')
    .integer(2, 300)
    .message(3, datum)
    .text(4, 'dro')
    .message(7, entry('beta', number))
    .integer(99, 5)
    .done();
}

test('a request is decoded: chunks are joined into one text, numbers are little-endian, unknown fields are skipped', () => {
  const { data, ...head } = readForwardBackward(request());
  expect(head).toEqual({ runId: 's:train:0', seq: 300, lossName: 'dro', config: { beta: 0.05 }, forwardOnly: false });
  expect(data).toHaveLength(1);
  expect([...data[0]!.tokens]).toEqual([1, 2, 3]);
  expect(data[0]!.inputs.get('target_tokens')).toEqual({ values: Int32Array.from([2, 3, 0]), shape: [3] });
  expect(data[0]!.inputs.get('weights')).toEqual({ values: Float32Array.from([0, 0.5, -1]), shape: [3] });
});

test('a buffer that is a view into another one is read like any other', () => {
  const bytes = Buffer.concat([Buffer.from('xyz'), request()]).subarray(3);
  expect([...readForwardBackward(bytes).data[0]!.tokens]).toEqual([1, 2, 3]);
});

test('a sparse matrix has zeros where it has no entries', () => {
  const csr = createMessage()
    .bytes(1, bytesOf(Float32Array.from([5, 6, 7])))
    .bytes(2, integers([0, 1, 1, 3]))
    .bytes(3, integers([1, 0, 2]))
    .done();
  const bytes = createMessage().message(2, csr).integer(3, 1).integers(4, [3, 3]).done();
  expect([...readTensor(bytes, 'weights', createReadingBudget()).values]).toEqual([0, 5, 0, 0, 0, 0, 6, 0, 7]);
});

test('a tensor without a shape is a list', () => {
  const { values, shape } = readTensor(tensor(integers([1, 2, 3]), 2, []), 'x', createReadingBudget());
  expect([[...values], shape]).toEqual([[1, 2, 3], [3]]);
});

test.each([
  ['a shape that is not its size', tensor(integers([1, 2]), 2, [3]), /shape has 3 numbers, but it contains 2/],
  ['half a number', tensor(Uint8Array.from([1, 2, 3]), 1, [1]), /not a whole number/],
  ['a type that is not sent', tensor(integers([1]), 4, [1]), /its type is 4/],
  ['a token that is none', tensor(integers([2 ** 40]), 2, [1]), /is not a token id/],
  ['three dimensions', tensor(integers([1]), 2, [1, 1, 1]), /more than two dimensions/],
  ['more cells than are read', tensor(integers([1]), 2, [100_000, 100_000]), /more than 8000000 cells/],
])('%s is refused', (_, bytes, message) => {
  expect(() => readTensor(bytes, 'x', createReadingBudget())).toThrow(message);
});

test('images are refused by name', () => {
  const image = createMessage().message(2, createMessage().text(2, 'png').done()).done();
  const datum = createMessage().message(1, image).done();
  expect(() => readForwardBackward(createMessage().message(3, datum).done())).toThrow(/Images and audio/);
});

test('bytes that were cut or changed are refused or read, and nothing else happens', () => {
  const whole = request();
  const random = createRandom(1);
  for (let round = 0; round < 3_000; round++) {
    const bytes = Uint8Array.from(whole.subarray(0, Math.floor(random.next() * (whole.length + 1))));
    for (let i = 0; i < 3 && bytes.length > 0; i++)
      bytes[Math.floor(random.next() * bytes.length)] = Math.floor(random.next() * 256);
    try {
      readForwardBackward(bytes);
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_request' });
    }
  }
});

test('an output has one record for consecutive rows of equal width, with offsets in bytes', () => {
  const logprobs = (values: readonly number[]) => Float32Array.from(values);
  const output = writeForwardBackwardOutput(
    [
      { logprobs: logprobs([1, 2]), width: null },
      { logprobs: logprobs([3]), width: null },
      { logprobs: logprobs([4, 5]), width: 2 },
    ],
    { 'loss:sum': 1.5 },
  );
  const fields = [...readFields(output)];
  expect(toText(fields[0]!)).toBe('ArrayRecord');
  const records = fields.filter(({ number }) => number === 2).map(({ bytes }) => [...readFields(bytes)]);
  expect(records.map((record) => record.find(({ number }) => number === 3)!.value)).toEqual([2, 1]);
  const inner = [...readFields([...readFields(records[0]![1]!.bytes)][1]!.bytes)];
  expect([...new BigInt64Array(new Uint8Array(inner[1]!.bytes).buffer)]).toEqual([0n, 8n, 12n]);
  const wide = [...readFields([...readFields(records[1]![1]!.bytes)][1]!.bytes)];
  expect(
    readIntegers(
      wide.find(({ number }) => number === 4)!,
      3,
    ),
  ).toEqual([2]);
  const metric = [...readFields(fields.at(-1)!.bytes)];
  expect([toText(metric[0]!), toDouble(metric[1]!)]).toEqual(['loss:sum', 1.5]);
});

const sparse = (rows: readonly number[], columns: readonly number[], shape: readonly number[]) =>
  createMessage()
    .message(
      2,
      createMessage()
        .bytes(1, bytesOf(new Float32Array(columns.length)))
        .bytes(2, integers(rows))
        .bytes(3, integers(columns))
        .done(),
    )
    .integer(3, 1)
    .integers(4, shape)
    .done();

test('sparse tensors share one budget of cells, so that many short ones cannot claim more than one', () => {
  const datum = createMessage();
  for (const name of INPUTS) datum.message(2, entry(name, sparse(new Array(2).fill(0), [], [1, CELLS_MAX - 10])));
  const { data, budget } = readForwardBackwardHead(createMessage().message(3, datum.done()).done());
  expect(() => readDatum(data[0]!, 0, INPUTS, budget)).toThrow(/more than 8000000 cells/);
});

test('a tensor that the loss does not read is refused by its name, before a cell is spent', () => {
  const datum = createMessage()
    .message(2, entry('nonsense', sparse([0, 0], [], [1, 1_000_000])))
    .done();
  const { data, budget } = readForwardBackwardHead(createMessage().message(3, datum).done());
  expect(() => readDatum(data[0]!, 0, INPUTS, budget)).toThrow(/does not read the input nonsense/);
  expect(budget.cells.spent).toBe(0);
});

test('sparse rows that name the same cells again are refused', () => {
  expect(() => readTensor(sparse([0, 2, 0, 2], [0, 1], [3, 2]), 'x', createReadingBudget())).toThrow(/do not follow/);
});

test.each([
  ['of the request', (field: Uint8Array) => field],
  ['of one datum', (field: Uint8Array) => createMessage().message(3, field).done()],
])('a message of tiny fields %s is refused when its budget is spent, long before its end', (_, inside) => {
  const tiny = new Uint8Array(15_000_000).fill(0x48); // field 9, value 0x48
  const { budget, data, error } = attempt(inside(tiny));
  expect(String(error)).toMatch(/more than 250000 protobuf fields/);
  expect(data).toBeUndefined();
  expect(budget?.fields.spent ?? FIELDS_MAX).toBeLessThanOrEqual(FIELDS_MAX + 1);
});

function attempt(bytes: Uint8Array) {
  let budget;
  try {
    const head = readForwardBackwardHead(bytes);
    budget = head.budget;
    return { budget, data: head.data.map((datum, index) => readDatum(datum, index, INPUTS, head.budget)) };
  } catch (error) {
    return { budget, error };
  }
}

test('a shape of a million dimensions is refused, and not spread over the stack', () => {
  const bytes = createMessage().message(4, new Uint8Array(1_000_000).fill(1)).done();
  expect(() => readTensor(bytes, 'x', createReadingBudget())).toThrow(/more than two dimensions/);
});

test.each([0, 1, 127, 128, 2 ** 31, 2 ** 35, 2 ** 52 + 1, -1, -2, -(2 ** 31), -(2 ** 40)])(
  'the varint of %d is read',
  (value) => {
    const bytes: number[] = [];
    for (let left = BigInt.asUintN(64, BigInt(value)); ; left >>= 7n) {
      const low = Number(left & 0x7fn);
      if (left < 0x80n) {
        bytes.push(low);
        break;
      }
      bytes.push(low | 0x80);
    }
    expect([...readFields(Uint8Array.from([8, ...bytes]))][0]!.value).toBe(value);
  },
);
