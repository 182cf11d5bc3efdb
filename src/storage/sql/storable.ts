// Values as both databases store them alike. A text with U+0000 is read back by libsql only up to there, and refused by Postgres: U+FFFD
// is stored instead. libsql returns bytes as an ArrayBuffer, which neither driver accepts: rows that are copied have Buffers.
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd');
  return value instanceof ArrayBuffer ? Buffer.from(value) : value;
}
