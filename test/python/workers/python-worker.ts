// whetstone-worker, the Python package of this checkout, as the process that an operator starts.
import { fileURLToPath } from 'node:url';
import { startWorker, type Joined, type WorkerProcess } from './worker-process.ts';

/** The interpreter of scripts/python-env.sh worker. */
export const WORKER_PYTHON = process.env['WHETSTONE_WORKER_PYTHON'];
const PACKAGE = fileURLToPath(new URL('../../../python/whetstone-worker/src', import.meta.url));

/** `python`: an interpreter other than WORKER_PYTHON. */
export const startPythonWorker = (
  server: Joined,
  args: readonly string[],
  { python = WORKER_PYTHON!, more = {} }: { python?: string; more?: NodeJS.ProcessEnv } = {},
): Promise<WorkerProcess> =>
  startWorker(server, python, ['-m', 'whetstone_worker', 'run', ...args], { ...more, PYTHONPATH: PACKAGE });
