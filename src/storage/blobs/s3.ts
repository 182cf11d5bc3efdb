// Blobs as objects of an S3-compatible store. An object appears whole or not at all, and is durable when the store says so.
// Directories that engines read are copies on this machine (directory-copies.ts): nothing under an opened prefix changes.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectsCommand, GetObjectCommand, HeadBucketCommand, HeadObjectCommand, ListObjectsV2Command, S3Client, S3ServiceException,
} from '@aws-sdk/client-s3'; // prettier-ignore
import { Upload } from '@aws-sdk/lib-storage';
import { invariant } from '#base/invariant';
import { AppError } from '#domain/errors';
import { parseBlobName } from '../blob-name.ts';
import type { BlobStore } from '../blobs.ts';
import { createDirectoryCopies } from './directory-copies.ts';

export interface S3Options {
  readonly bucket: string;
  /** Before every name; '' for none. */
  readonly prefix: string;
  /** Null: AWS, or what AWS_ENDPOINT_URL_S3 says. */
  readonly endpoint: string | null;
  /** Null: what the environment says. */
  readonly region: string | null;
  /** For copies of directories. Emptied when it is opened. */
  readonly cacheDirectory: string;
}

/** Of one request; uploads are many requests. */
const REQUEST_MS_MAX = 60_000;
const CONNECT_MS_MAX = 5_000;
const ATTEMPTS = 4;
const DELETES_PER_REQUEST = 1_000;
/** Hundreds of adapters. */
const COPIES_BYTES_MAX = 4_000_000_000;

/** Throws `invalid_request` where the bucket cannot be read. Credentials come from the environment, as for all AWS clients. */
export async function openS3Blobs(options: S3Options): Promise<BlobStore & { close(): void }> {
  const { bucket: Bucket, prefix: root, endpoint, region, cacheDirectory } = options;
  const client = new S3Client({
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    ...(region === null ? {} : { region }),
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_MS_MAX, requestTimeout: REQUEST_MS_MAX },
    requestChecksumCalculation: 'WHEN_REQUIRED', // others than AWS do not know the new ones
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const copies = await createDirectoryCopies({ directory: cacheDirectory, bytesMax: COPIES_BYTES_MAX, fetch });
  const keyOf = (name: string): string => `${root}${parseBlobName(name).join('/')}`;

  async function exists(name: string): Promise<boolean> {
    const found = await client.send(new HeadObjectCommand({ Bucket, Key: keyOf(name) })).catch(nullIfMissing);
    return found !== null;
  }

  async function collect(name: string): Promise<{ name: string; sizeBytes: number }[]> {
    const found: { name: string; sizeBytes: number }[] = [];
    let token: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({
          Bucket,
          Prefix: `${keyOf(name)}/`,
          ...(token === undefined ? {} : { ContinuationToken: token }),
        }),
      );
      for (const { Key, Size } of page.Contents ?? [])
        found.push({ name: Key!.slice(root.length), sizeBytes: Size ?? 0 });
      token = page.NextContinuationToken;
    } while (token !== undefined);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async function put(name: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sizeBytes: number }> {
    const segments = parseBlobName(name);
    for (let depth = 1; depth < segments.length; depth++) {
      const above = segments.slice(0, depth).join('/');
      invariant(!(await exists(above)), `${above} is a blob: nothing can lie under it`);
    }
    invariant((await collect(name)).length === 0, `${name} is a prefix of other blobs`);
    let sizeBytes = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content instanceof Uint8Array ? [content] : content) {
        sizeBytes += chunk.length;
        yield chunk;
      }
    }
    const Body = Readable.from(counted(), { objectMode: false });
    const failed = new Promise<never>((_, reject) => Body.once('error', reject));
    const upload = new Upload({ client, params: { Bucket, Key: keyOf(name), Body } });
    try {
      await Promise.race([upload.done(), failed]);
    } catch (error) {
      await upload.abort().catch(() => undefined); // the parts are invisible, and the store drops them in time
      throw error;
    }
    return { sizeBytes };
  }

  async function stream(name: string): Promise<Readable | null> {
    const found = await client.send(new GetObjectCommand({ Bucket, Key: keyOf(name) })).catch(nullIfMissing);
    return found?.Body ? (found.Body as Readable) : null;
  }

  async function fetch(prefix: string, into: string): Promise<number | null> {
    const objects = await collect(prefix);
    for (const { name } of objects) {
      const path = join(into, name.slice(prefix.length + 1));
      await mkdir(dirname(path), { recursive: true });
      const content = await stream(name);
      if (!content) return null; // deleted meanwhile
      await pipeline(content, createWriteStream(path));
    }
    return objects.length === 0 ? null : objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  const blobs: BlobStore & { close(): void } = {
    put,

    async find(name) {
      const content = await stream(name);
      return content && Buffer.concat((await content.toArray()) as Buffer[]);
    },

    stream,

    list: (prefix) => collect(prefix),

    async delete(name) {
      const keys = [keyOf(name), ...(await collect(name)).map((object) => keyOf(object.name))];
      for (let i = 0; i < keys.length; i += DELETES_PER_REQUEST) {
        const Objects = keys.slice(i, i + DELETES_PER_REQUEST).map((Key) => ({ Key }));
        const { Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
        const failure = Errors?.find(({ Code }) => Code !== 'NoSuchKey');
        if (failure) throw new Error(`S3 did not delete ${failure.Key}: ${failure.Code} ${failure.Message}`);
      }
      await copies.forget(name);
    },

    async putDirectory(prefix, directory) {
      let sizeBytes = 0;
      for (const file of (await readdir(directory)).sort()) {
        sizeBytes += (await put(`${prefix}/${file}`, createReadStream(join(directory, file)))).sizeBytes;
      }
      return { sizeBytes };
    },

    openDirectory: (prefix) => copies.open(prefix),

    close: () => client.destroy(),
  };
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
  } catch (cause) {
    client.destroy();
    const reason = cause instanceof Error ? [cause.name, cause.message].join(': ') : String(cause);
    throw new AppError(
      'invalid_request',
      `The bucket ${Bucket}${endpoint === null ? '' : ` at ${endpoint}`} cannot be read: ${reason}. Look at WHETSTONE_BLOBS_URL and the AWS_… variables.`,
      { cause },
    );
  }
  return blobs;
}

function nullIfMissing(error: unknown): null {
  const isMissing = error instanceof S3ServiceException && ['NoSuchKey', 'NotFound'].includes(error.name);
  if (isMissing || (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404)) return null;
  throw error;
}
