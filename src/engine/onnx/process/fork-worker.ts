// Starts the child process of an engine, from the sources (it inherits the loader flags of this process) or from the build.
// stdout belongs to the command line's own output, so everything a child prints goes to stderr.
import { fork, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

export type WorkerRole = 'inference' | 'training';

const WORKER = new URL(`../worker${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

/**
 * For glibc: arrays of this size (caches, activations, results) are returned to the system when they are freed. By default glibc
 * raises the threshold after the first large one and keeps up to 32 MB at a time, in pieces that only smaller requests can reuse.
 */
const ALLOCATION = { MALLOC_MMAP_THRESHOLD_: '262144' };

/** An engine needs no key, password or address of a store; everything else (PATH, OMP_NUM_THREADS, LD_PRELOAD, …) is the operator's. */
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|DATABASE_URL|BLOBS_URL|^PG|^AWS_|HEADERS$|WEBHOOK/i;

/** The flag may say something else than the variable. */
export const TRAINER_NICE_VARIABLE = 'WHETSTONE_TRAINER_NICE';

export const withoutSecrets = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET.test(name)));

/** Typed arrays cross the channel unchanged: structured clone instead of JSON. `nice`: of a trainer. */
export const forkWorker = (role: WorkerRole, nice?: number): ChildProcess =>
  fork(WORKER, [role], {
    serialization: 'advanced',
    stdio: ['ignore', 2, 2, 'ipc'],
    env: {
      ...ALLOCATION,
      ...withoutSecrets(process.env),
      ...(nice === undefined ? {} : { [TRAINER_NICE_VARIABLE]: String(nice) }),
    },
  });
