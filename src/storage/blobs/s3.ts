// Blobs as objects of an S3-compatible store. An object appears completely or not at all, and is durable when the store confirms it.
// Engines read local copies of directories (directory-copies.ts): nothing under an opened prefix changes.
import { createWriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectsCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { LRUCache } from 'lru-cache';
import { fileChunks } from '#base/file-chunks';
import { invariant } from '#base/invariant';
import { AppError } from '#domain/errors';
import { parseBlobName } from '../blob-name.ts';
import type { BlobStore } from '../blobs.ts';
import { prepareDirectoryCopies } from './directory-copies.ts';
import { PART_BYTES } from './s3-etag.ts';
import { describeS3Fault, isMissing, namedS3Fault, s3Unavailable } from './s3-faults.ts';
import { createS3Objects } from './s3-objects.ts';

export interface S3Options {
  readonly bucket: string;
  /** Prefix of every name; '' for none. */
  readonly prefix: string;
  /** Null: AWS, or AWS_ENDPOINT_URL_S3. */
  readonly endpoint: string | null;
  /** Null: from the environment. */
  readonly region: string | null;
  /** For copies of directories. Emptied when the store is opened. */
  readonly cacheDirectory: string;
  /** A request without a byte in either direction for this long is aborted and tried again. */
  readonly stallMs?: number;
}

const STALL_MS_MAX = 30_000;
/** Time until an answer begins; uploads are many requests of 5 MiB. */
const REQUEST_MS_MAX = 120_000;
const CONNECT_MS_MAX = 5_000;
const ATTEMPTS = 4;
/** Each download holds one until it has been read. */
const CONNECTIONS_MAX = 4_096;
const PREFIXES_MAX = 10_000;
/** Other servers may delete what lies under them. */
const PREFIXES_MS = 60_000;
const DELETES_PER_REQUEST = 1_000;
/** Room for hundreds of adapters. */
const COPIES_BYTES_MAX = 4_000_000_000;

/** Throws `invalid_request` if the bucket cannot be read. Credentials come from the environment, as for all AWS clients. */
export async function openS3Blobs(options: S3Options): Promise<BlobStore & { close(): void }> {
  const { bucket: Bucket, prefix: root, endpoint, region, cacheDirectory, stallMs = STALL_MS_MAX } = options;
  const agent = { maxSockets: CONNECTIONS_MAX };
  const client = new S3Client({
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    ...(region === null ? {} : { region }),
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS_MAX,
      socketTimeout: stallMs,
      requestTimeout: REQUEST_MS_MAX,
      throwOnRequestTimeout: true, // otherwise it is only a warning
      httpAgent: agent,
      httpsAgent: agent,
    },
    requestChecksumCalculation: 'WHEN_REQUIRED', // stores other than AWS do not know the new checksums
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const objects = createS3Objects({ client, bucket: Bucket, attempts: ATTEMPTS });
  const copies = await prepareDirectoryCopies({ directory: cacheDirectory, bytesMax: COPIES_BYTES_MAX, fetch });
  /** Names that are no blobs because blobs lie under them, or are about to. */
  const prefixes = new LRUCache<string, true>({ max: PREFIXES_MAX, ttl: PREFIXES_MS });
  const keyOf = (name: string): string => `${root}${parseBlobName(name).join('/')}`;

  async function exists(name: string): Promise<boolean> {
    const head = client.send(new HeadObjectCommand({ Bucket, Key: keyOf(name) }));
    return head.then(
      () => true,
      (error: unknown) => {
        if (isMissing(error)) return false;
        throw namedS3Fault(error);
      },
    );
  }

  async function listUnder(name: string): Promise<{ name: string; sizeBytes: number }[]> {
    const found: { name: string; sizeBytes: number }[] = [];
    let token: string | undefined;
    do {
      const next = token === undefined ? {} : { ContinuationToken: token };
      const list = new ListObjectsV2Command({ Bucket, Prefix: `${keyOf(name)}/`, ...next });
      const page = await client.send(list).catch(rethrowNamed);
      for (const { Key, Size } of page.Contents ?? [])
        found.push({ name: Key!.slice(root.length), sizeBytes: Size ?? 0 });
      token = page.NextContinuationToken;
    } while (token !== undefined);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async function isPrefix(name: string): Promise<boolean> {
    const list = new ListObjectsV2Command({ Bucket, Prefix: `${keyOf(name)}/`, MaxKeys: 1 });
    return ((await client.send(list).catch(rethrowNamed)).Contents ?? []).length > 0;
  }

  /** Each prefix is looked up once for all the blobs that are put under it. */
  async function requireNoBlob(names: readonly string[]): Promise<void> {
    const unknown = names.filter((name) => !prefixes.has(name));
    const isBlob = await Promise.all(unknown.map(exists));
    const blob = unknown.find((_, i) => isBlob[i]);
    invariant(blob === undefined, `${blob} is a blob: nothing can lie under it`);
    for (const name of unknown) prefixes.set(name, true);
  }

  async function put(name: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sizeBytes: number }> {
    const segments = parseBlobName(name);
    const above = segments.slice(1).map((_, i) => segments.slice(0, i + 1).join('/'));
    const [hasOthers] = await Promise.all([isPrefix(name), requireNoBlob(above)]);
    invariant(!hasOthers, `${name} is a prefix of other blobs`);
    return upload(name, content);
  }

  async function upload(name: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sizeBytes: number }> {
    prefixes.delete(name);
    let sizeBytes = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content instanceof Uint8Array ? [content] : content) {
        sizeBytes += chunk.length;
        yield chunk;
      }
    }
    const Body = Readable.from(counted(), { objectMode: false });
    const failed = new Promise<never>((_, reject) => Body.once('error', reject));
    const uploading = new Upload({ client, params: { Bucket, Key: keyOf(name), Body }, partSize: PART_BYTES });
    try {
      await Promise.race([uploading.done(), failed]);
    } catch (error) {
      await uploading.abort().catch(() => undefined); // the parts are invisible, and the store removes them in time
      throw namedS3Fault(error);
    }
    return { sizeBytes };
  }

  async function fetch(prefix: string, into: string): Promise<number | null> {
    const files = await listUnder(prefix);
    for (const { name } of files) {
      const path = join(into, name.slice(prefix.length + 1));
      await mkdir(dirname(path), { recursive: true });
      const copied = await objects.read(keyOf(name), async (content) => {
        await pipeline(content, createWriteStream(path));
        return path;
      });
      if (copied === null) return null; // deleted meanwhile
    }
    return files.length === 0 ? null : files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  const blobs: BlobStore & { close(): void } = {
    put,

    find: async (name) => objects.read(keyOf(name), collectBytes),

    stream: async (name, from) => objects.stream(keyOf(name), from),

    list: listUnder,

    async delete(name) {
      const keys = [keyOf(name), ...(await listUnder(name)).map((object) => keyOf(object.name))];
      for (let i = 0; i < keys.length; i += DELETES_PER_REQUEST) {
        const Objects = keys.slice(i, i + DELETES_PER_REQUEST).map((Key) => ({ Key }));
        const { Errors } = await client
          .send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }))
          .catch(rethrowNamed);
        const failure = Errors?.find(({ Code }) => Code !== 'NoSuchKey');
        if (failure) throw s3Unavailable(`did not delete ${failure.Key}: ${failure.Code} ${failure.Message}`);
      }
      for (const prefix of [...prefixes.keys()])
        if (prefix === name || prefix.startsWith(`${name}/`)) prefixes.delete(prefix);
      await copies.forget(name);
    },

    async putDirectory(prefix, directory) {
      const segments = parseBlobName(prefix);
      await requireNoBlob(segments.map((_, i) => segments.slice(0, i + 1).join('/')));
      const files = (await readdir(directory)).sort();
      const below = (await listUnder(prefix)).map(({ name }) => name.slice(prefix.length + 1));
      for (const file of files) {
        const isAbove = below.some((name) => name.startsWith(`${file}/`));
        invariant(!isAbove, `${prefix}/${file} is a prefix of other blobs`);
      }
      let sizeBytes = 0;
      for (const file of files) {
        sizeBytes += (await upload(`${prefix}/${file}`, fileChunks(join(directory, file)))).sizeBytes;
      }
      return { sizeBytes };
    },

    findDirectory: (prefix, insteadOf) => copies.open(prefix, insteadOf),

    close: () => client.destroy(),
  };
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
  } catch (cause) {
    client.destroy();
    const fault = describeS3Fault(cause);
    const reason = fault === null ? reasonOf(cause) : `the store ${fault}`;
    throw new AppError(
      'invalid_request',
      `The bucket ${Bucket}${endpoint === null ? '' : ` at ${endpoint}`} cannot be read: ${reason}. Check WHETSTONE_BLOBS_URL and the AWS_… variables.`,
      { cause },
    );
  }
  return blobs;
}

function reasonOf(error: unknown): string {
  if (isMissing(error)) return 'there is no such bucket';
  return error instanceof Error ? [error.name, error.message].join(': ') : String(error);
}

function rethrowNamed(error: unknown): never {
  throw namedS3Fault(error);
}

async function collectBytes(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}
