// Entry point of the thread that checks one uploaded adapter: what its files become when they are parsed is as large as their maker wants.
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '#base/lower-priority';
import { AppError } from '#domain/errors';
import { checkAdapter, type AdapterCheck, type CheckedAdapter } from './check-adapter.ts';

lowerPriority();
const { directory, config, baseModel } = workerData as AdapterCheck;
parentPort!.postMessage(await check());

async function check(): Promise<CheckedAdapter> {
  try {
    await checkAdapter(directory, config, baseModel);
    return { fault: null };
  } catch (error) {
    const { code, message } = error instanceof AppError ? error : new AppError('internal', String(error));
    return { fault: { code, message } };
  }
}
