// An ETag of a multipart upload, as AWS computes it: here the plain way, and in chunks that do not match the parts.
import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createEtagDigest, PART_BYTES } from './s3-etag.ts';

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest();

test.each([PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 2 * PART_BYTES + 70_000])('of %i bytes in parts', (size) => {
  const bytes = randomBytes(size);
  const sums: Buffer[] = [];
  for (let at = 0; at < size; at += PART_BYTES) sums.push(md5(bytes.subarray(at, at + PART_BYTES)));
  const etag = `"${md5(Buffer.concat(sums)).toString('hex')}-${sums.length}"`;
  const digest = createEtagDigest(etag)!;
  for (let at = 0; at < size; at += 64_007) digest.update(bytes.subarray(at, at + 64_007));
  expect(`"${digest.read()}"`).toBe(etag);
  expect(`"${digest.expected}"`).toBe(etag);
});

test('an ETag that is not an MD5 proves nothing', () => {
  expect(['"CJ_x8dD7yIkDEAE="', undefined, '', 'W/"abc"'].map(createEtagDigest)).toEqual([null, null, null, null]);
});
