// A blob store in S3 over a faulty connection: a read returns what was stored, or an error that names the storage; a stall ends
// by its deadline, a read resumes where it broke off, and a bit flipped in transit is detected.
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createId } from '#base/ids';
import type { BlobStore } from '#storage/blobs';
import { openS3Blobs } from '#storage/blobs/s3';
import { withNamedFaults } from '#storage/named-faults';
import { startFaultyS3, type FaultyS3, type LineFault } from './faulty-s3.ts';

/** Limits for a test store on the same machine, which may be busy. */
const STALL_MS = 500;
const SEEDS = 8;
const RATE = 0.08;

let directory: string;
let s3: FaultyS3;
let blobs: BlobStore & { close(): void };

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER');
  directory = await mkdtemp(join(tmpdir(), 'whetstone-faulty-s3-'));
  s3 = await startFaultyS3(join(directory, 'objects'));
});
beforeEach(async () => {
  await s3.begin(0, 0);
  blobs?.close();
  blobs = await open();
});
afterAll(async () => {
  blobs.close();
  await s3.close();
  await rm(directory, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

const open = (more: { endpoint?: string; bucket?: string; prefix?: string; stallMs?: number } = {}) =>
  openS3Blobs({
    bucket: s3.bucket,
    prefix: `${createId()}/`,
    endpoint: s3.endpoint,
    region: 'us-east-1',
    cacheDirectory: join(directory, 'copies', createId()),
    stallMs: STALL_MS,
    ...more,
  });

const unavailable = { code: 'storage_unavailable' };
const ofObjects = ({ method, url }: IncomingMessage) => method === 'GET' && !url!.includes('list-type=');

async function readAll(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test.each<LineFault>([
  '500',
  '503',
  'stalled',
  'request cut',
  'answer lost',
  'stalled halfway',
  'cut halfway',
  'bit flipped',
])('one request that is %s has no visible effect', async (fault) => {
  const bytes = randomBytes(300_000);
  const isRead = ['stalled halfway', 'cut halfway', 'bit flipped'].includes(fault);
  s3.next(fault, 1, isRead ? ofObjects : ({ method }) => method === 'PUT');
  await blobs.put('a', bytes);
  expect(digest((await blobs.find('a'))!)).toBe(digest(bytes));
  s3.next(fault, 1, ofObjects);
  const streamed = readAll((await blobs.stream('a'))!);
  if (fault === 'bit flipped') await expect(streamed).rejects.toMatchObject(unavailable);
  else expect(digest(await streamed)).toBe(digest(bytes));
});

test.each<[LineFault, string]>([
  ['refused', 'does not answer'],
  ['500', 'answers 500'],
  ['503', 'answers 503'],
  ['stalled', 'does not answer'],
  ['bit flipped', 'changed in transit'],
])('a store whose reads are all %s says so, and is read again when it is well', async (fault, cause) => {
  await blobs.put('d/a', Buffer.from('content'));
  const named = withNamedFaults(blobs);
  s3.next(fault, Infinity, ofObjects);
  const refusal = { ...unavailable, message: expect.stringContaining(cause) as string };
  await expect(named.find('d/a')).rejects.toMatchObject(refusal);
  await expect(named.findDirectory('d')).rejects.toMatchObject(refusal);
  await s3.begin(0, 0);
  expect(await readFile(join((await named.findDirectory('d'))!, 'a'), 'utf8')).toBe('content');
});

/** Stored with a long stall limit, because this machine may be busy. */
async function storedLarge(sizeBytes: number): Promise<{ bytes: Buffer; prefix: string }> {
  const prefix = `${createId()}/`;
  const patient = await open({ prefix, stallMs: 60_000 });
  const bytes = randomBytes(sizeBytes);
  await patient.put('large', bytes);
  patient.close();
  return { bytes, prefix };
}

test('a read that breaks off again and again continues where it was', async () => {
  const { bytes, prefix } = await storedLarge(12_000_000);
  const store = await open({ prefix, stallMs: 60_000 });
  s3.next('cut halfway', 6, ofObjects); // each leaves half of the rest
  expect(digest(await readAll((await store.stream('large'))!))).toBe(digest(bytes));
  expect(s3.counts.get('cut halfway')).toBeGreaterThanOrEqual(6);
  store.close();
});

test('a slow reader loses nothing: the connection to the store is closed and opened again', async () => {
  const { bytes, prefix } = await storedLarge(12_000_000);
  const store = await open({ prefix });
  const parts: Uint8Array[] = [];
  const content = await tryAgain(() => store.stream('large'));
  for await (const part of content!) {
    if (parts.length === 3) await new Promise((resolve) => setTimeout(resolve, 2 * STALL_MS));
    parts.push(part);
  }
  expect(digest(Buffer.concat(parts))).toBe(digest(bytes));
  store.close();
});

test('stalled readers do not block others from the store', async () => {
  const { prefix } = await storedLarge(1_000_000);
  const store = await open({ prefix, stallMs: 60_000 });
  await store.put('small', Buffer.from('x'));
  const standing = await Promise.all(Array.from({ length: 60 }, async () => (await store.stream('large'))!));
  const readers = standing.map((content) => content[Symbol.asyncIterator]());
  for (const each of readers) await each.next();
  expect(Buffer.from((await store.find('small'))!).toString()).toBe('x');
  for (const each of readers) await each.return!();
  store.close();
});

/** Retries until it succeeds, as clients and jobs do. */
async function tryAgain<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      expect(error).toMatchObject(unavailable);
    }
  }
}

test('whatever goes wrong, by any seed: each operation does its work, or says that the storage cannot', async () => {
  const seeds = fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
    await s3.begin(seed, RATE);
    const store = withNamedFaults(blobs);
    const name = `seed-${seed}`;
    const files = { 'a.json': '{"a":1}', 'b.bin': 'b'.repeat(100_000), 'c.bin': '' };
    const source = join(directory, name);
    await rm(source, { recursive: true, force: true });
    await mkdir(source);
    for (const [file, text] of Object.entries(files)) await writeFile(join(source, file), text);
    await tryAgain(() => store.putDirectory(`${name}/d`, source));
    await tryAgain(() => store.put(`${name}/x`, Buffer.from('first')));
    await tryAgain(() => store.put(`${name}/x`, Buffer.from('second')));
    expect(Buffer.from((await tryAgain(() => store.find(`${name}/x`)))!).toString()).toBe('second');
    const copy = (await tryAgain(() => store.findDirectory(`${name}/d`)))!;
    for (const [file, text] of Object.entries(files)) {
      expect(await readFile(join(copy, file), 'utf8')).toBe(text);
      const read = async () => readAll((await store.stream(`${name}/d/${file}`))!);
      expect((await tryAgain(read)).toString()).toBe(text);
    }
    const sizes = (await tryAgain(() => store.list(name))).map(({ sizeBytes }) => sizeBytes);
    expect(sizes).toEqual([7, 100_000, 0, 6]);
    await tryAgain(() => store.delete(name));
    expect(await tryAgain(() => store.list(name))).toEqual([]);
  });
  await fc.assert(seeds, { numRuns: SEEDS, endOnFailure: true });
}, 120_000);

test('the error for a store that cannot work when it is opened is a sentence that says where to look', async () => {
  const because = (reason: string) =>
    expect.stringMatching(
      new RegExp(
        `^The bucket .* at http:.* cannot be read: ${reason}. Check WHETSTONE_BLOBS_URL and the AWS_… variables.$`,
      ),
    ) as string;
  const refusal = (reason: string) => ({ code: 'invalid_request', message: because(reason) });
  s3.next('503', Infinity);
  await expect(open()).rejects.toMatchObject(refusal('the store answers 503'));
  s3.next('stalled', Infinity);
  await expect(open()).rejects.toMatchObject(refusal('the store does not answer \\(it timed out\\)'));
  await s3.begin(0, 0);
  const nowhere = open({ endpoint: 'http://127.0.0.1:9' });
  await expect(nowhere).rejects.toMatchObject(refusal('the store does not answer \\(ECONNREFUSED\\)'));
  await expect(open({ bucket: 'none' })).rejects.toMatchObject(refusal('there is no such bucket'));
});
