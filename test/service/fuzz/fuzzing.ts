// Runs one fuzzer: cases from a seed, each with a deadline, until the time is over. A case fails by what its `run` throws. What a case is
// made of, and what it may not do, is said by the fuzzers beside this file.
//   WHETSTONE_FUZZ_SECONDS  how long each fuzzer runs (default: 3; `npm run test:fuzz` takes ten minutes)
//   WHETSTONE_FUZZ_SEED     the first case; a failing case prints its own
//   WHETSTONE_FUZZ_CASES    at most so many cases: 1 repeats a failure
import { Worker } from 'node:worker_threads';
import { createRandom, type Random } from '../../../src/base/random.ts';

const numberOf = (name: string, otherwise: number): number => Number(process.env[name] || otherwise);
const SECONDS = numberOf('WHETSTONE_FUZZ_SECONDS', 3);
const SEED = numberOf('WHETSTONE_FUZZ_SEED', 1);
const CASES = numberOf('WHETSTONE_FUZZ_CASES', Infinity);
/** A case that takes longer hangs. */
const CASE_MS_MAX = 20_000;
/** What a case may take of the thread without a pause, on a machine that others use too. */
const SHOWN = 2_000;
/** For vitest: the time of a fuzzer, its last case, and the time to start. */
export const FUZZ_TIMEOUT_MS = 1000 * SECONDS + 2 * CASE_MS_MAX + 60_000;

export interface Fuzzer<Case> {
  readonly name: string;
  readonly make: (random: Random) => Case;
  /** Throws if the case finds something. */
  readonly run: (given: Case, signal: AbortSignal) => Promise<unknown>;
  readonly show: (given: Case) => string;
}

export async function fuzz<Case>({ name, make, run, show }: Fuzzer<Case>): Promise<number> {
  const watch = watchFor(name);
  const endMs = performance.now() + 1000 * SECONDS;
  let cases = 0;
  try {
    for (; cases < CASES && performance.now() < endMs; cases++) {
      const seed = SEED + cases;
      watch.begin(seed);
      const given = make(createRandom(seed));
      const late = AbortSignal.timeout(CASE_MS_MAX);
      const hangs = new Promise<never>((_, reject) => {
        late.addEventListener('abort', () => reject(new Error(`it has not ended within ${CASE_MS_MAX} ms`)));
      });
      await Promise.race([run(given, late), hangs]).catch((cause: unknown) => {
        const said = cause instanceof Error ? cause.stack : String(cause);
        const again = `WHETSTONE_FUZZ_SEED=${seed} WHETSTONE_FUZZ_CASES=1`;
        throw new Error(`${name}: ${said}\nCase: ${show(given).slice(0, SHOWN)}\nAgain: ${again}`, { cause });
      });
    }
  } finally {
    await watch.end();
  }
  process.stderr.write(`${name}: ${cases} cases from seed ${SEED}\n`);
  return cases;
}

/** A case that never gives the thread back can only be seen from another one: it names the case and ends the process. */
function watchFor(name: string) {
  const now = new BigInt64Array(new SharedArrayBuffer(16));
  const code = `
    const { workerData: { now, name, ms } } = require('node:worker_threads');
    let [seen, since] = [-1n, Date.now()];
    setInterval(() => {
      if (now[0] !== seen) [seen, since] = [now[0], Date.now()];
      else if (Date.now() - since > ms) {
        require('node:fs').writeSync(2, name + ' hangs: WHETSTONE_FUZZ_SEED=' + seen + ' WHETSTONE_FUZZ_CASES=1\\n');
        process.kill(process.pid, 'SIGKILL');
      }
    }, 500);`;
  const worker = new Worker(code, { eval: true, workerData: { now, name, ms: 2 * CASE_MS_MAX } });
  return {
    begin: (seed: number) => void Atomics.store(now, 0, BigInt(seed)),
    end: () => worker.terminate(),
  };
}
