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

/**
 * What an engine process may need of the environment; it gets nothing else, because any other name may hold a key, a password or the
 * address of a store.
 */
const NEEDED: readonly RegExp[] = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|TEMP|TMP|TZ|LANG|LANGUAGE|TERM|NO_COLOR|FORCE_COLOR)$/,
  /^(SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|USERPROFILE|LOCALAPPDATA|APPDATA)$/i, // Windows
  /^(LC|XDG)_/,
  /^(LD|DYLD)_/, // libraries that the operator preloads
  /^(MALLOC_|GLIBC_TUNABLES$|JE_MALLOC_|MIMALLOC_|TCMALLOC_|ASAN_|LSAN_|TSAN_|UBSAN_)/, // allocators and sanitizers
  /^(ORT|OMP|GOMP|KMP|MKL|OPENBLAS|VECLIB)_/, // ONNX Runtime, threads and kernels
  /^(NODE_|NODE$|UV_|V8_|TSX_|ESBUILD_)/, // Node.js and the loader of the sources
];

/** Also if it begins like one of these: NODE_AUTH_TOKEN is a key of npm's. */
const SECRET = /KEY|TOKEN|SECRET|PASS|PWD.|CREDENTIAL|AUTH|_PAT$|_DSN$|_UR[IL]$|PROXY/i;

/** The flag may say something else than the variable. */
export const TRAINER_NICE_VARIABLE = 'WHETSTONE_TRAINER_NICE';

export const onlyNeeded = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => name === TRAINER_NICE_VARIABLE || (NEEDED.some((needed) => needed.test(name)) && !SECRET.test(name)),
    ),
  );

/** Typed arrays cross the channel unchanged: structured clone instead of JSON. `nice`: of a trainer. */
export const forkWorker = (role: WorkerRole, nice?: number): ChildProcess =>
  fork(WORKER, [role], {
    serialization: 'advanced',
    stdio: ['ignore', 2, 2, 'ipc'],
    env: {
      ...ALLOCATION,
      ...onlyNeeded(process.env),
      ...(nice === undefined ? {} : { [TRAINER_NICE_VARIABLE]: String(nice) }),
    },
  });
