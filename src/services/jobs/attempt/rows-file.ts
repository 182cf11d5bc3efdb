// A file in the server's work directory with the encoded rows of a job: written once, then read for every epoch. Deleted when the attempt
// ends; job-runner.ts removes leftovers of a crash when it starts.
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileChunks } from '#base/file-chunks';
import { decodeRows, type EncodedRows } from '#training/encoded-rows';

export interface RowsFile extends EncodedRows {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export async function openRowsFile(workDirectory: string): Promise<RowsFile> {
  const directory = await mkdtemp(join(workDirectory, 'rows-'));
  const path = join(directory, 'rows');
  const file = await open(path, 'w');
  return {
    write: (bytes) => file.writeFile(bytes),
    read: (from) => decodeRows(fileChunks(path, { from, chunkBytes: 1 << 18 }), from),
    async close() {
      await file.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
