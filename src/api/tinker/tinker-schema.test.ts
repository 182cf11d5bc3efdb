import { expect, test } from 'vitest';
import * as wire from './tinker-schema.ts';

const BODIES = {
  createSession: [wire.createSession, {}],
  createModel: [wire.createModel, { session_id: 's', model_seq_id: 0, base_model: 'b' }],
  loadWeights: [wire.loadWeights, { path: 'p' }],
  saveWeights: [wire.saveWeights, { model_id: 'r', seq_id: 1 }],
  saveForSampler: [wire.saveForSampler, { model_id: 'r', seq_id: 1 }],
} as const;

/** `{"a":"…"}` */
const valuesOf = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

test.each(Object.entries(BODIES))('%s: a client’s own values have up to 64 KB of JSON', (_, [schema, body]) => {
  const read = (user_metadata: unknown) => schema.safeParse({ ...body, user_metadata });
  expect(read(null).success).toBe(true);
  expect(read(valuesOf(65_536)).success).toBe(true);
  const refused = read(valuesOf(65_537)).error!.issues[0]!;
  expect(refused.path).toEqual(['user_metadata']);
  expect(refused.message).toContain('65537 bytes of JSON, and may be at most 65536');
  expect(read({ a: 'é'.repeat(32_768) }).success).toBe(false); // bytes, not characters
});
