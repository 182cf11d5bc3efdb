// A worker in a process of its own that dials the server of a lab, and what it takes of processors.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { BOOTSTRAP_KEY } from '../../test/support/api/test-server.ts';
import type { WorkerLab } from '../../test/support/workers/worker-lab.ts';
import type { WireEngine, WireWorker } from './worker.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

export interface StartedWorker {
  readonly pid: number;
  /** Null: the engine does not say. */
  readonly enginePid: number | null;
  /** Of the process that dials, without its engine's; to the microsecond. */
  processorMs(): Promise<number>;
  stop(): Promise<void>;
}

/** Resolves when the server knows it. */
export async function startWorker(lab: WorkerLab, modelDirectory: string, engine: WireEngine): Promise<StartedWorker> {
  const settings: WireWorker = { url: lab.url, key: BOOTSTRAP_KEY, modelId: lab.model.id, modelDirectory, engine };
  const child = fork(WORKER, [JSON.stringify(settings)], { stdio: ['ignore', 2, 2, 'ipc'] });
  const [{ enginePid }] = (await once(child, 'message')) as [{ enginePid: number | null }];
  while (!lab.isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    pid: child.pid!,
    enginePid,
    async processorMs() {
      const answered = once(child, 'message');
      child.send('processor time');
      const [{ ms }] = (await answered) as [{ ms: number }];
      return ms;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
