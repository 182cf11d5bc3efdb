// What a server keeps where in its data directory, and a backup in its own. Its lock is server/data-lock.ts.
import { join } from 'node:path';

/** SQLite's; `-wal` and `-shm` lie beside it. */
export const databasePath = (directory: string): string => join(directory, 'whetstone.db');
export const blobsPath = (directory: string): string => join(directory, 'blobs');
/** Of blobs that live elsewhere. */
export const blobCopiesPath = (directory: string): string => join(directory, 'blob-copies');
/** The first key in plain text, for commands on this machine; only its owner may read it. */
export const localKeyPath = (directory: string): string => join(directory, 'api.key');
/** Seals the secrets of webhooks; in base64. */
export const secretKeyPath = (directory: string): string => join(directory, 'secret.key');
/** Of large models, as the embedded engines map them: can be made again, and is in no backup. */
export const weightsPath = (directory: string): string => join(directory, 'weights');
/** Files of workers on their way; emptied at the start. */
export const workersPath = (directory: string): string => join(directory, 'workers');
/** What GGUF files say of configuration and tokenizer, as other models have it; made again when it is missing. */
export const ggufPath = (directory: string): string => join(directory, 'gguf');
/** Half-finished files of jobs; emptied at the start. */
export const workPath = (directory: string): string => join(directory, 'work');
