// Entry of an engine's child process. The one argument says which engine; everything else comes through the channel.
import { openParentPort } from './process/child-process-port.ts';
import { serveInference } from './process/serve-inference.ts';
import { serveTraining } from './process/serve-training.ts';

export type WorkerRole = 'inference' | 'training';

const SERVERS = { inference: serveInference, training: serveTraining } satisfies Record<WorkerRole, unknown>;

SERVERS[process.argv[2] as WorkerRole](openParentPort());
