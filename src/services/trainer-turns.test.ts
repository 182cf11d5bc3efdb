import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { AppError } from '#domain/errors';
import type { LossProgram } from '#engine/loss-program';
import type { OptimizerParams, TrainingEngine, TrainingRow, TrainingSession } from '#engine/training-engine';
import { aSession } from '../../test/support/learning/a-session.ts';
import { plainRow } from '../../test/support/learning/tiny-decoders.ts';
import { takeTurns, TurnLost, type TurnOptions } from './trainer-turns.ts';

const never = new AbortController().signal;
const LOSS: LossProgram = { name: 'l', perToken: { op: 'logprob' }, metrics: {} };
const STEP = {} as OptimizerParams;
const rows = (count: number): TrainingRow[] => Array.from({ length: count }, () => plainRow([1, 2], {}));

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'whetstone-turns-'))));
afterEach(() => rm(directory, { recursive: true, force: true }));

/** An engine that counts rows: each ends when it is let on. Sessions are named by the seed of their adapter. */
function createCountingEngine({ sessionsMax = 1, fullDisk = false } = {}) {
  const log: string[] = [];
  const waiting: (() => void)[] = [];
  const state = { isHeld: false, open: 0, openMost: 0, isGone: false };
  const engine: TrainingEngine = {
    limits: {
      contextLength: 64,
      rowLengthMax: 64,
      memory: { budgetBytes: 1, fixedBytes: 0, bytesPerToken: 0, bytesPerPair: 0 },
    },
    async open({ from, lora }) {
      if (state.isGone) throw new AppError('engine_unavailable', 'gone');
      state.openMost = Math.max(state.openMost, ++state.open);
      const name = String.fromCharCode(64 + lora.seed);
      const read = (file: string) => (from ? readFile(join(from, file), 'utf8').then(Number) : Promise.resolve(0));
      let [steps, gradients] = [await read('steps'), await read('gradients').catch(() => 0)];
      const session: TrainingSession = {
        rowsAtOnce: 1,
        logprobs: async (some) => some.map(() => Float32Array.of(steps)),
        async forwardBackward(some) {
          if (state.isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
          gradients += some.length;
          log.push(`${name}${gradients}`);
          return some.map(() => ({ loss: gradients, metrics: {} }));
        },
        async optimStep() {
          const gradNorm = gradients;
          log.push(`${name} step ${++steps} of ${gradients}`);
          gradients = 0;
          return { gradNorm };
        },
        async save(target, how) {
          if (fullDisk) throw new AppError('storage_unavailable', 'full');
          await writeFile(join(target, 'steps'), String(steps));
          if (how.gradients) await writeFile(join(target, 'gradients'), String(gradients));
        },
        close: async () => void state.open--,
      };
      return session;
    },
    status: () => ({ ready: true, busy: state.open > 0, sessionsMax, restarts: 0, lastFailure: null }),
    close: async () => {},
  };
  return {
    engine,
    log,
    state,
    /** Resolves while a row is being computed. */
    computing: () => vi.waitFor(() => expect(waiting).not.toHaveLength(0)),
    /** Lets `count` held rows end, one after the other. */
    letOn: async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        await vi.waitFor(() => expect(waiting).not.toHaveLength(0));
        waiting.shift()!();
      }
    },
  };
}

let nowMs: number;
const turns = (engine: TrainingEngine, options: Partial<TurnOptions> = {}): TrainingEngine =>
  takeTurns(engine, { directory, keepsGradients: () => true, clock: { now: () => nowMs }, log: silentLog, ...options });
beforeEach(() => void (nowMs = 1_000));

const named = (seed: number) => aSession({ lora: { rank: 1, alpha: 1, seed } });

test('a small job beside a long call ends after the piece that is being computed, and the call goes on with its gradients', async () => {
  const { engine, log, state, letOn, computing } = createCountingEngine();
  const shared = turns(engine);
  const long = await shared.open(named(1), never);
  state.isHeld = true;
  const call = long.forwardBackward(rows(5), LOSS);
  await letOn(1);
  await computing();
  const small = shared.open(named(2), never).then(async (session) => {
    state.isHeld = false;
    await session.forwardBackward(rows(1), LOSS);
    await session.optimStep(STEP);
    await session.close();
  });
  await letOn(1);
  await small;
  await call;
  expect(await long.optimStep(STEP)).toEqual({ gradNorm: 5 });
  await long.close();
  expect(log).toEqual(['A1', 'A2', 'B1', 'B step 1 of 1', 'A3', 'A4', 'A5', 'A step 1 of 5']);
  expect(state).toMatchObject({ open: 0, openMost: 1 });
  expect(await readdir(directory)).toEqual([]);
});

test('two long calls alternate by turns, and neither loses anything', async () => {
  const { engine, log } = createCountingEngine();
  const shared = turns(engine, { turnMs: 0 });
  const run = async (seed: number) => {
    const session = await shared.open(named(seed), never);
    await session.forwardBackward(rows(3), LOSS);
    const { gradNorm } = await session.optimStep(STEP);
    await session.close();
    return gradNorm;
  };
  expect(await Promise.all([run(1), run(2)])).toEqual([3, 3]);
  expect(log).toEqual(['A1', 'B1', 'A2', 'B2', 'A3', 'B3', 'A step 1 of 3', 'B step 1 of 3']);
});

test('a session that has used no more than the others keeps its place for a turn', async () => {
  const { engine, log } = createCountingEngine();
  const shared = turns(engine);
  const [first, second] = [await shared.open(named(1), never), shared.open(named(2), never)];
  await first.forwardBackward(rows(1), LOSS); // the second has had no turn
  const calls = second.then((session) => session.forwardBackward(rows(2), LOSS));
  const goingOn = first.forwardBackward(rows(2), LOSS);
  await calls;
  nowMs += 15_000;
  await goingOn;
  expect(log).toEqual(['A1', 'B1', 'B2', 'A2', 'A3']);
});

test('a session that computes nothing gives its place to one that waits', async () => {
  const { engine, state } = createCountingEngine();
  const shared = turns(engine);
  await shared.open(named(1), never);
  const next = shared.open(named(2), never);
  nowMs += 200;
  await next;
  expect(state).toMatchObject({ open: 1, openMost: 1 });
});

test('a trainer that does not keep gradients changes hands between two steps', async () => {
  const { engine, log, state, letOn } = createCountingEngine();
  const shared = turns(engine, { keepsGradients: () => false });
  const long = await shared.open(named(1), never);
  state.isHeld = true;
  const call = long.forwardBackward(rows(2), LOSS).then(() => long.optimStep(STEP));
  await letOn(1);
  const small = shared.open(named(2), never);
  await letOn(1);
  await Promise.all([small, call]);
  expect(log).toEqual(['A1', 'A2', 'A step 1 of 2']);
});

test('a waiting holder is told behind whom, and when no longer', async () => {
  const { engine } = createCountingEngine();
  const shared = turns(engine);
  const waits: (string | undefined)[] = [];
  const holder = (id: string) => ({
    name: { kind: 'job' as const, id, entity: 'team' },
    onWaiting: (behind: { name: { id: string } } | null) => void waits.push(`${id} behind ${behind?.name.id}`),
  });
  const first = await shared.open(named(1), never, holder('first'));
  const leaving = new AbortController();
  const given = shared.open(named(2), leaving.signal, holder('second'));
  leaving.abort();
  await expect(given).rejects.toMatchObject({ code: 'cancelled' });
  const third = shared.open(named(3), never, holder('third'));
  await first.close();
  await third;
  expect(waits).toEqual([
    'second behind first',
    'second behind undefined',
    'third behind first',
    'third behind undefined',
  ]);
});

test('a state that cannot be saved keeps its place, and the others wait until it ends', async () => {
  const { engine, log } = createCountingEngine({ fullDisk: true });
  const shared = turns(engine);
  const first = await shared.open(named(1), never);
  const second = shared.open(named(2), never);
  await first.forwardBackward(rows(3), LOSS);
  await first.close();
  await (await second).forwardBackward(rows(1), LOSS);
  expect(log).toEqual(['A1', 'A2', 'A3', 'B1']);
});

test('a trainer that is gone when a session comes back is no fault of its rows', async () => {
  const { engine, state } = createCountingEngine();
  const shared = turns(engine);
  const first = await shared.open(named(1), never);
  await first.forwardBackward(rows(1), LOSS);
  const second = await shared.open(named(2), never);
  state.isGone = true;
  const back = first.forwardBackward(rows(1), LOSS);
  await second.close();
  await expect(back).rejects.toBeInstanceOf(TurnLost);
  await first.close();
  expect(await readdir(directory)).toEqual([]);
});

test('as many sessions as the trainers hold run at once', async () => {
  const { engine, state } = createCountingEngine({ sessionsMax: 2 });
  const shared = turns(engine);
  const sessions = [await shared.open(named(1), never), await shared.open(named(2), never)];
  expect(state.open).toBe(2);
  await Promise.all(sessions.map((session) => session.close()));
  expect(state).toMatchObject({ open: 0, openMost: 2 });
});
