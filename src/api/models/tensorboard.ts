// The history of a model as a TensorBoard event file: TFRecords of Event messages, one scalar per metric and step. No maintained package
// writes them, and they are small. Framing: tensorflow/core/lib/io/record_writer.h; messages: tensorboard/compat/proto/event.proto and
// summary.proto, of which these are the fields that scalars need. step-history.ts decides which rows are written.
import protobuf from 'protobufjs';

const { Event } = protobuf.Root.fromJSON({
  nested: {
    Event: {
      oneofs: { what: { oneof: ['fileVersion', 'summary'] } },
      fields: {
        wallTime: { type: 'double', id: 1 },
        step: { type: 'int64', id: 2 },
        fileVersion: { type: 'string', id: 3 },
        summary: { type: 'Summary', id: 5 },
      },
    },
    Summary: { fields: { value: { rule: 'repeated', type: 'Value', id: 1 } } },
    // A oneof, as in summary.proto: zeros are written too.
    Value: {
      oneofs: { value: { oneof: ['simpleValue'] } },
      fields: { tag: { type: 'string', id: 1 }, simpleValue: { type: 'float', id: 2 } },
    },
  },
}).nested as { readonly Event: protobuf.Type };

export interface ScalarStep {
  /** Time of the end of the step. */
  readonly timeMs: number;
  readonly step: number;
  readonly scalars: Readonly<Record<string, number>>;
}

/** The whole file, record by record. */
export function* eventFile(steps: Iterable<ScalarStep>): Generator<Uint8Array> {
  let begun = false;
  for (const { timeMs, step, scalars } of steps) {
    const wallTime = timeMs / 1000;
    if (!begun) yield frame({ wallTime, fileVersion: 'brain.Event:2' }); // readers expect this record first
    begun = true;
    const value = Object.entries(scalars).map(([tag, simpleValue]) => ({ tag, simpleValue }));
    yield frame({ wallTime, step, summary: { value } });
  }
}

/** length (8), its checksum (4), the message, its checksum (4); all of it little-endian. */
function frame(event: Readonly<Record<string, unknown>>): Uint8Array {
  const message = Event.encode(event).finish();
  const record = Buffer.alloc(12 + message.length + 4);
  record.writeBigUInt64LE(BigInt(message.length), 0);
  record.writeUInt32LE(maskedCrc(record.subarray(0, 8)), 8);
  record.set(message, 12);
  record.writeUInt32LE(maskedCrc(message), 12 + message.length);
  return record;
}

/** CRC-32C (Castagnoli) by a table; zlib has the other polynomial. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

/** Masked, as TensorFlow does, because a CRC of data that contains CRCs is problematic (tensorflow/core/lib/hash/crc32c.h). */
function maskedCrc(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
