// Reads objects over an unreliable connection: a read resumes where it broke off, fails after a deadline without data, and fails
// if the bytes differ from the store's. Damage inside the store is not detected here; callers with a checksum detect it.
import type { Readable } from 'node:stream';
import { GetObjectCommand, S3ServiceException, type GetObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3';
import { AppError } from '#domain/errors';
import { createEtagDigest, type EtagKind } from './s3-etag.ts';
import { isMissing, namedS3Fault, s3Unavailable } from './s3-faults.ts';

export interface S3Objects {
  /**
   * The last piece is returned only when all bytes match the store's. Null: there is no such object. `from`: skips this many bytes at
   * its beginning; the rest then has no known checksum.
   */
  stream(key: string, from?: number): Promise<AsyncGenerator<Uint8Array> | null>;
  /** Reads it again if it was changed in transit. */
  read<T>(key: string, use: (content: AsyncGenerator<Uint8Array>) => Promise<T>): Promise<T | null>;
}

export interface S3ObjectsOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** Consecutive attempts without a byte after which a read fails. */
  readonly attempts: number;
}

export function createS3Objects({ client, bucket: Bucket, attempts }: S3ObjectsOptions): S3Objects {
  /** What this store's ETags mean, as far as reads have shown. */
  const known = new Map<EtagKind, 'checksums' | 'names'>();

  const get = (Key: string, more: { Range?: string; IfMatch?: string } = {}): Promise<GetObjectCommandOutput | null> =>
    client.send(new GetObjectCommand({ Bucket, Key, ...more })).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw namedS3Fault(error);
    });

  async function getRest(key: string, from: number, etag: string | undefined): Promise<Readable> {
    const more = { Range: `bytes=${from}-`, ...(etag === undefined ? {} : { IfMatch: etag }) };
    const rest = await get(key, more).catch((error: unknown) => {
      if (error instanceof S3ServiceException) return null; // the object has changed or become shorter
      throw error;
    });
    if (rest && rest.ETag === etag && rest.ContentRange?.startsWith(`bytes ${from}-`) === true) return bodyOf(rest);
    if (rest) bodyOf(rest).destroy();
    throw s3Unavailable('changed this object while it was being read');
  }

  /** All bytes from this position, in order, over as many connections as needed. */
  async function* whole(key: string, first: GetObjectCommandOutput, from = 0): AsyncGenerator<Uint8Array> {
    let body = bodyOf(first);
    let at = from;
    for (let failures = 0; ;) {
      try {
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          at += chunk.length;
          failures = 0;
          yield chunk;
        }
        return;
      } catch (error) {
        if (at - from === first.ContentLength) return; // only the end of the stream was lost
        if (++failures >= attempts) throw namedS3Fault(error);
      }
      body = await getRest(key, at, first.ETag);
    }
  }

  async function* checked(key: string, first: GetObjectCommandOutput): AsyncGenerator<Uint8Array> {
    const digest = isEncryptedForCustomer(first) ? null : createEtagDigest(first.ETag);
    if (digest === null || known.get(digest.kind) === 'names') {
      for await (const chunk of whole(key, first)) yield chunk; // not yield*: the reader's errors are not connection errors
      return;
    }
    let last: Uint8Array | null = null;
    for await (const chunk of whole(key, first)) {
      digest.update(chunk);
      if (last) yield last;
      last = chunk;
    }
    const sum = digest.read();
    if (sum === digest.expected) known.set(digest.kind, 'checksums');
    else await confirm(key, first.ETag, sum);
    if (last) yield last;
  }

  /** The bytes do not match the ETag: the store's own if they come twice. */
  async function confirm(key: string, etag: string | undefined, sum: string): Promise<void> {
    const changed = () => s3Unavailable('sent bytes that were changed in transit');
    const again = await get(key);
    const digest = createEtagDigest(again?.ETag);
    if (!again || !digest || again.ETag !== etag) throw changed();
    for await (const chunk of whole(key, again)) digest.update(chunk);
    if (digest.read() !== sum) throw changed();
    if (!known.has(digest.kind)) known.set(digest.kind, 'names');
  }

  async function stream(key: string, from = 0): Promise<AsyncGenerator<Uint8Array> | null> {
    const first = await get(key, from > 0 ? { Range: `bytes=${from}-` } : {});
    if (first === null || from === 0) return first && checked(key, first);
    if (first.ContentRange?.startsWith(`bytes ${from}-`) === true) return whole(key, first, from);
    bodyOf(first).destroy();
    throw s3Unavailable('does not support reading parts of objects');
  }

  return {
    stream,

    async read(key, use) {
      for (let tries = 1; ; tries++) {
        const content = await stream(key);
        if (content === null) return null;
        try {
          return await use(content);
        } catch (error) {
          const mayPass = error instanceof AppError && error.code === 'storage_unavailable';
          if (!mayPass || tries >= attempts) throw error;
        }
      }
    },
  };
}

function bodyOf({ Body }: GetObjectCommandOutput): Readable {
  const body = Body as Readable;
  body.on('error', () => {}); // an error before reading starts is reported when reading starts
  return body;
}

const isEncryptedForCustomer = ({ ServerSideEncryption, SSECustomerAlgorithm }: GetObjectCommandOutput): boolean =>
  SSECustomerAlgorithm !== undefined || ServerSideEncryption?.startsWith('aws:kms') === true;
