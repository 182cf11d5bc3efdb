// How the active parts of a server stop: requests and the gradient step each get their time, in parallel;
// what takes longer is cut off so that it can be repeated. With the 7 s for what is closed after them, a stop always ends.
import type { FastifyInstance } from 'fastify';
import pTimeout from 'p-timeout';
import type { Log } from '#base/log';
import type { TrainingEngine } from '#engine/training-engine';
import type { JobRunner } from '#services/jobs/job-runner';
import type { CloseStack } from './close-stack.ts';
import type { ServerConfig } from '#config/server-config';

type StopLimits = ServerConfig['stop'];

/** To kill an engine that does not answer (5 s), and to close storage. */
const CLOSE_MS = 7_000;

/** New requests are refused, running ones may finish; those over the limit end with an error that says why. */
export async function stopListening(app: FastifyInstance, { drainMs }: StopLimits, log: Log): Promise<void> {
  const late = await app.drain(drainMs);
  if (late > 0) log.warn('server.drain_cut', { requests: late, limitMs: drainMs });
  const closed = app.close();
  if (late > 0) app.server.closeAllConnections();
  await closed;
}

/** The running gradient step is finished and saved. A step over the limit is lost with its engine, and repeated by the next worker. */
export async function stopTraining(
  runner: Pick<JobRunner, 'stop'>,
  engines: readonly Pick<TrainingEngine, 'close'>[],
  { stepMs }: StopLimits,
  log: Log,
): Promise<void> {
  const stopped = runner.stop();
  if (await endsWithin(stopped, stepMs)) return;
  log.warn('server.step_cut', { limitMs: stepMs });
  await Promise.all(engines.map((engine) => engine.close()));
  await stopped;
}

/** Always resolves: what could not be closed by then ends with the process. */
export async function closeInTime(open: CloseStack, { drainMs, stepMs }: StopLimits, log: Log): Promise<void> {
  const limitMs = Math.max(drainMs, stepMs) + CLOSE_MS;
  if (!(await endsWithin(open.closeAll(), limitMs))) log.error('server.stop_cut', { limitMs });
}

/** Stops all of them at once; throws after all have ended. */
export async function together(...endings: readonly Promise<void>[]): Promise<void> {
  const failures = (await Promise.allSettled(endings)).flatMap((end): unknown[] =>
    end.status === 'rejected' ? [end.reason] : [],
  );
  if (failures.length > 0) throw new AggregateError(failures, 'not everything could be stopped');
}

/** False: not within the time. */
const endsWithin = (work: Promise<void>, limitMs: number): Promise<boolean> =>
  pTimeout(
    work.then(() => true),
    { milliseconds: Math.max(1, limitMs), fallback: () => false },
  );
