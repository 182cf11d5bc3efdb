// A server over real sockets, a real database and files, and the real training engine, with injected faults. If its process is
// killed, its sockets and database connections close at once, and another one starts on what was stored.
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { AppError } from '#domain/errors';
import { EngineLost } from '#engine/engine-lost';
import { storageFault } from '#domain/storage-fault';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import type { JobRunner } from '#services/jobs/job-runner';
import type { BlobStore } from '#storage/blobs';
import { createCheckedDirectories } from '#storage/blobs/checked-directories';
import { IN_PROGRESS_MS_MAX } from '#storage/idempotency-times';
import { withNamedFaults } from '#storage/named-faults';
import type { StorageDialect } from '#storage/sql/dialect';
import { openSqlStorage } from '#storage/sql/sql-storage';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { openTestServer, type TestServer } from '../../support/api/test-server.ts';
import type { TinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { Killed, type Fault, type Faults } from './faults.ts';
import { createProcess, faultyDialect, type Process } from './faulty-storage.ts';

/** After this time, everything a dead server held is free. */
const OUTAGE_MS = IN_PROGRESS_MS_MAX + 1;
/** How long a body may stall: half-open connections end by this time. */
export const STALL_MS = 300;

export interface FaultySetup {
  readonly directory: string;
  readonly openDialect: () => StorageDialect;
  /** At every start. */
  readonly openBlobs: (process: Process) => Promise<BlobStore>;
  readonly databaseFaults: readonly Fault[];
  /** No other process uses the database: what a dead process held is free at once. */
  readonly exclusive: boolean;
  readonly model: TinyChatModel;
  readonly engine: TrainingEngine;
  readonly faults: Faults;
  readonly clock: TestServer['clock'];
}

export interface FaultyServer {
  readonly url: () => string;
  readonly restarts: () => number;
  close(): Promise<void>;
}

/** Restarts itself after every kill, until it is closed. */
export async function runFaultyServer(setup: FaultySetup): Promise<FaultyServer> {
  let restarts = 0;
  let closing = false;
  let broken: unknown = null;
  let restarting = Promise.resolve();
  let current = await startUntilAlive();

  async function startUntilAlive(): Promise<Life> {
    for (;;) {
      try {
        return await start(setup, died);
      } catch (error) {
        if (!(error instanceof Killed) && !(error instanceof AppError) && !storageFault(error)) throw error;
        restarts++;
      }
    }
  }

  function died(): void {
    restarting = restarting
      .then(async () => {
        await current.bury();
        if (!setup.exclusive) setup.clock.advance(OUTAGE_MS);
        restarts++;
        if (!closing) current = await startUntilAlive();
      })
      .catch((error: unknown) => void (broken = error));
  }

  return {
    url() {
      if (broken !== null) throw broken as Error; // it can no longer start
      return current.url;
    },
    restarts: () => restarts,
    async close() {
      closing = true;
      await restarting;
      await current.bury();
    },
  };
}

interface Life {
  readonly url: string;
  /** After a kill: what is left of it is removed. */
  bury(): Promise<void>;
}

async function start(setup: FaultySetup, onDeath: () => void): Promise<Life> {
  const { directory, model, engine, faults, clock, exclusive } = setup;
  let alive = false; // a kill during the start shows as its error
  let hangUp = () => {};
  const process = createProcess(() => {
    hangUp(); // before a caller learns of it
    if (alive) setImmediate(onDeath);
  });
  const open: (() => Promise<unknown>)[] = [];
  const bury = async () => {
    process.kill();
    for (let close = open.pop(); close; close = open.pop()) await close().catch(() => undefined);
  };
  try {
    const dialect = faultyDialect(setup.openDialect(), process, faults, setup.databaseFaults);
    const storage = withNamedFaults(await openSqlStorage(dialect, 'test', silentLog));
    open.push(() => storage.close());
    const stored = await setup.openBlobs(process);
    const server = await openTestServer({
      given: { storage, blobs: createCheckedDirectories(withNamedFaults(stored)), model, clock },
      limits: { bodyPace: { stallMs: STALL_MS, bytesPerSecondMin: 100 } },
    });
    hangUp = () => server.app.server.closeAllConnections();
    server.app.server.on('connection', (socket: Socket) => process.killed() && socket.destroy());
    open.push(() => server.close());
    const { jobEvents, blobs } = server;
    const sessions: TrainingSession[] = [];
    const runner: JobRunner = aJobRunner({
      exclusive,
      storage,
      blobs,
      jobEvents,
      clock,
      workDirectory: join(directory, 'work', createId()),
      saveEveryMs: 0,
      attemptsMax: Infinity, // the slower the machine, the more faults there are in one attempt
      trainerOf: () => ({
        engine: mortalEngine(engine, process, faults, sessions),
        encoder: createConversationEncoder(model.id, model.text, model.inference.vocabSize),
        capabilities: ableTrainer,
        readElsewhere: null,
        ...noSampler,
      }),
    });
    if (exclusive) await storage.idempotency.releaseAll();
    await runner.start();
    open.push(async () => {
      await runner.stop();
      for (const session of sessions) await session.close().catch(() => undefined);
    });
    const waking = setInterval(() => jobEvents.notify(null), 20); // a failed runner retries after a second
    open.push(async () => clearInterval(waking));
    const url = await server.app.listen({ port: 0, host: '127.0.0.1' });
    if (process.killed()) throw new Killed();
    alive = true;
    return { url, bury };
  } catch (error) {
    await bury();
    throw error;
  }
}

const VERB_FAULTS: readonly Fault[] = ['kill before', 'kill after', 'trainer dies'];

/** The unchanged engine, whose process may die at any verb, and the whole server with it. */
function mortalEngine(engine: TrainingEngine, process: Process, faults: Faults, sessions: TrainingSession[]) {
  const mortal: TrainingEngine = {
    limits: engine.limits,
    status: () => engine.status(),
    close: () => engine.close(),
    async open(options, signal) {
      const session = await engine.open(options, signal);
      sessions.push(session);
      return new Proxy(session, {
        get(target, verb) {
          const value = Reflect.get(target, verb) as unknown;
          if (typeof value !== 'function' || verb === 'close') return value;
          return async (...args: unknown[]) => {
            if (process.killed()) throw new Killed();
            const fault = faults.next(String(verb), VERB_FAULTS, 2);
            if (fault === 'trainer dies')
              throw new EngineLost('training', { how: 'was killed by SIGKILL', byOthers: true });
            if (fault === 'kill before') process.kill();
            if (process.killed()) throw new Killed();
            const result = (await Reflect.apply(value, target, args)) as unknown;
            if (fault === 'kill after') process.kill();
            if (process.killed()) throw new Killed();
            return result;
          };
        },
      });
    },
  };
  return mortal;
}
