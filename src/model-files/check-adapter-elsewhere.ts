// Checks an adapter in a thread of its own, with a deadline, so that nothing in its files keeps the server from answering.
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import pTimeout from 'p-timeout';
import { createKeyedLock } from '#base/keyed-lock';
import { startThread } from '#base/start-thread';
import { AppError } from '#domain/errors';
import type { AdapterCheck, CheckedAdapter } from './check-adapter.ts';

const THREAD = new URL(`./check-adapter-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);
/** A gigabyte of tensors takes some seconds. */
const CHECK_MS = 300_000;
/** One tensor at a time, and files that are refused beyond some megabytes of JSON. */
const HEAP_MB = 1_024;

/** One at a time, because each may read gigabytes. */
const inOrder = createKeyedLock();

/** Throws `bad_model_files`. */
export const checkAdapterElsewhere = (check: AdapterCheck): Promise<void> => inOrder('', () => run(check));

async function run(check: AdapterCheck): Promise<void> {
  const thread = startThread(THREAD, {
    name: 'adapter check',
    workerData: check,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  try {
    const checked = once(thread, 'message').then(([message]) => message as CheckedAdapter);
    const { fault } = await pTimeout(checked, {
      milliseconds: CHECK_MS,
      message: new AppError('bad_model_files', `Checking the adapter took longer than ${CHECK_MS / 1000} s.`),
    });
    if (fault) throw new AppError(fault.code, fault.message);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    throw new AppError('bad_model_files', `Checking the adapter needs more than ${HEAP_MB} MB.`, { cause: error });
  } finally {
    await thread.terminate();
  }
}
