// The files of a server's data directory, and of a backup. The lock is server/data-lock.ts.
import { join } from 'node:path';

/** SQLite's database; `-wal` and `-shm` are next to it. */
export const databasePath = (directory: string): string => join(directory, 'whetstone.db');
/** A restore's working copy of the rows; only there while a restore runs, or after one was interrupted. */
export const restoringPath = (directory: string): string => join(directory, 'restoring.db');
export const blobsPath = (directory: string): string => join(directory, 'blobs');
/** Local copies of blobs from a remote store. */
export const blobCopiesPath = (directory: string): string => join(directory, 'blob-copies');
/** The first key in plain text, for commands on this machine; only its owner may read it. */
export const localKeyPath = (directory: string): string => join(directory, 'api.key');
/** Encrypts the secrets of webhooks; in base64. */
export const secretKeyPath = (directory: string): string => join(directory, 'secret.key');
/** Prepared weights that the embedded engines map: can be made again, and are in no backup. */
export const weightsPath = (directory: string): string => join(directory, 'weights');
/** Workers' files in transfer; emptied at the start. */
export const workersPath = (directory: string): string => join(directory, 'workers');
/** Configuration and tokenizer from GGUF files, in the layout of other models; made again if missing. */
export const ggufPath = (directory: string): string => join(directory, 'gguf');
/** Incomplete files of jobs; emptied at the start. */
export const workPath = (directory: string): string => join(directory, 'work');
