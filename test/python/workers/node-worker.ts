// `whetstone workers run`, the worker of this package, as the process that an operator starts.
import { CLI } from '../../support/cli-command.ts';
import { startWorker, type Joined, type WorkerProcess } from './worker-process.ts';

export const startNodeWorker = (server: Joined, roles: string): Promise<WorkerProcess> =>
  startWorker(server, process.execPath, [CLI, 'workers', 'run', '--model', 'starter', '--roles', roles]);
