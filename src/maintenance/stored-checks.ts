// Checks that the bytes of a blob are those that were stored, by the checksums that each kind of blob contains. Reads all bytes, and
// nothing but blobs. stored-references.ts knows which rows refer to them.
import { AppError } from '#domain/errors';
import type { BlobReader } from '#storage/blobs';
import { CHECKSUMS, parseChecksums } from '#storage/directory-checksums';
import { PEFT_FILES } from '#services/artifacts/checkpoint-artifact';
import { parseSealedJson } from '#services/jobs/data/sealed-json';
import { readGroups } from '#services/jobs/data/stored-groups';
import { readRecord } from '#services/jobs/data/token-record';
import type { StoredReference } from './stored-references.ts';
import { digestOf } from '#base/stream-digest';

export type Fault = { readonly kind: 'missing' | 'damaged'; readonly problem: string };

const missing = (problem: string): Fault => ({ kind: 'missing', problem });
const damaged = (problem: string): Fault => ({ kind: 'damaged', problem });

/** Null: the blob exists and no damage was detected. Throws if the store cannot be read. */
export async function findStoredFault(blobs: BlobReader, { blob, form }: StoredReference): Promise<Fault | null> {
  try {
    switch (form.form) {
      case 'directory':
        return await directoryFault(blobs, blob);
      case 'groups':
        return await groupsFault(blobs, blob);
      case 'record':
        return await recordFault(blobs, blob);
      case 'sealed': {
        const bytes = await blobs.find(blob);
        if (bytes === null) return missing('is missing');
        return parseSealedJson(bytes) === null ? damaged('has changed since it was stored') : null;
      }
      case 'content': {
        const found = await digestOfBlob(blobs, blob);
        if (found === null) return missing('is missing');
        if (found.sizeBytes !== form.sizeBytes) return damaged(`has ${found.sizeBytes} bytes, not ${form.sizeBytes}`);
        return found.sha256 === form.sha256 ? null : damaged('has changed since it was stored: its SHA-256 differs');
      }
    }
  } catch (error) {
    if (isUnreadable(error)) return damaged(`cannot be read: ${(error as Error).message}`);
    throw error;
  }
}

/** A directory without a list was written before lists existed: the files that engines need must exist. */
async function directoryFault(blobs: BlobReader, prefix: string): Promise<Fault | null> {
  const files = await blobs.list(prefix);
  if (files.length === 0) return missing('has no files');
  const list = await blobs.find(`${prefix}/${CHECKSUMS}`);
  const expected = list && parseChecksums(Buffer.from(list).toString('utf8'));
  if (list && !expected) return damaged(`has a damaged ${CHECKSUMS}`);
  if (!expected) {
    const absent = PEFT_FILES.find((name) => !files.some((file) => file.name === `${prefix}/${name}`));
    return absent === undefined ? null : missing(`has no ${absent}`);
  }
  for (const [name, sha256] of Object.entries(expected)) {
    const found = await digestOfBlob(blobs, `${prefix}/${name}`);
    if (found === null) return missing(`has no ${name}`);
    if (found.sha256 !== sha256) return damaged(`has a ${name} that has changed since it was stored`);
  }
  return null;
}

const groupsFault = (blobs: BlobReader, name: string): Promise<Fault | null> =>
  faultOfReading(blobs, name, async (content) => {
    const { groups } = await readGroups(content, name);
    for await (const _ of groups); // the checksum is at the end
  });

const recordFault = (blobs: BlobReader, name: string): Promise<Fault | null> =>
  faultOfReading(blobs, name, async (content) => {
    const record = await readRecord(content, name);
    for await (const _ of record.sequences(() => false)); // each has its own checksum
  });

async function faultOfReading(
  blobs: BlobReader,
  name: string,
  read: (content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<Fault | null> {
  const content = await blobs.stream(name);
  if (content === null) return missing('is missing');
  try {
    await read(content);
    return null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'damaged_data') return damaged('has changed since it was stored');
    throw error;
  }
}

async function digestOfBlob(blobs: BlobReader, name: string) {
  const content = await blobs.stream(name);
  return content && digestOf(content);
}

/** A bad sector, or a name that leads outside: a fault of this blob, not of the store. */
const isUnreadable = (error: unknown): boolean =>
  (error instanceof AppError && error.code === 'invalid_request') || (error as NodeJS.ErrnoException).code === 'EIO';
