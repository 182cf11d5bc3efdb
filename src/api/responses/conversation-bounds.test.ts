import { expect, test } from 'vitest';
import { refuseLargeConversation } from './conversation-bounds.ts';

const bounds = { bytesMax: 16_000_000, param: 'previous_response_id' } as const;
const refusal = (what: RegExp) =>
  expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(what) as string }) as unknown;

test('a conversation is refused for its bytes, its values and its keys, each item as often as it is named', async () => {
  const text = { role: 'user', content: '\u0001'.repeat(1_000_000) }; // six bytes each in JSON
  const list = { x: Array.from({ length: 100_000 }, () => 0) };
  const keys = (from: number) => ({
    x: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${from + i}`, 1])),
  });
  await expect(refuseLargeConversation([text, text], bounds)).resolves.toBeUndefined();
  await expect(refuseLargeConversation([text, text, text], bounds)).rejects.toEqual(refusal(/16000000 bytes of JSON/));
  await expect(refuseLargeConversation([list, list, list], bounds)).rejects.toEqual(refusal(/250000 values/));
  await expect(refuseLargeConversation([keys(0), keys(0)], bounds)).resolves.toBeUndefined();
  await expect(refuseLargeConversation([keys(0), keys(30_000)], bounds)).rejects.toEqual(
    refusal(/50000 different keys/),
  );
});
