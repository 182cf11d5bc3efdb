// Claims background responses, on servers that sample, and stores how each ended. If its server dies, the next server that looks claims
// it. answer-response.ts answers them.
import { createChanges } from '#base/changes';
import type { Log } from '#base/log';
import { responseBlob } from '#domain/blob-names';
import { publicError } from '#domain/errors';
import type { StoredResponse } from '#domain/stored-response';
import { createClaimLoop, holdLease } from '../claim-loop.ts';
import { withRetries } from '../retry-policy.ts';
import { answerResponse, type AnswerResponseDeps, type Ending } from './answer-response.ts';
import type { LiveResponse, LiveResponses } from './live-responses.ts';

export interface ResponseRunner {
  start(): Promise<void>;
  /** Abandons what is being answered; the next server continues. */
  stop(): Promise<void>;
}

export interface ResponseRunnerDeps extends AnswerResponseDeps {
  readonly live: LiveResponses;
  readonly log: Log;
  /** No other server answers responses of this storage, so those marked in progress at the start are free. */
  readonly exclusive: boolean;
  /** Base models that this server samples. */
  readonly baseModels: readonly string[];
}

/** A dead server's responses are free after this. */
const LEASE_MS = 20_000;
/** Maximum delay until a response that another process queued is noticed. */
const POLL_MS = 1_000;
/** One batch of the engine; more would only wait in its queue, where no other server can take them. */
const RESPONSES_MAX = 16;

/** Why an attempt ends early. */
type Cut = 'lost' | 'stopped';

export function createResponseRunner(deps: ResponseRunnerDeps): ResponseRunner {
  const { storage, blobs, clock, live } = deps;
  let stopListening = () => {};

  const logOf = ({ id, attempt }: StoredResponse) => deps.log.child({ responseId: id, attempt });
  const loop = createClaimLoop<StoredResponse>({
    claim: (worker) => storage.responses.claim(worker, clock.now(), LEASE_MS, deps.baseModels),
    run: (row) => answer(row, logOf(row)),
    runningMax: RESPONSES_MAX,
    pollMs: POLL_MS,
    report: (err, row) => (row ? logOf(row) : deps.log).error('response_runner.failed', { err }),
  });

  async function answer(row: StoredResponse, log: Log): Promise<void> {
    const { id, attempt } = row;
    log.info('response.claimed');
    const renewLease = async () => {
      const isKept = await storage.responses.renewLease(id, attempt, clock.now() + LEASE_MS);
      if (!isKept && !lease.signal.aborted) lease.cut('lost');
    };
    const lease = holdLease<Cut>(loop.stopping, LEASE_MS, renewLease, (err) =>
      log.warn('response.lease_not_renewed', { err }),
    );
    const shown: LiveResponse = { events: [], changes: createChanges(), cancel: () => lease.cut('lost') };
    live.begin(id, shown);
    let ending: Ending | null = null;
    try {
      ending = await answerResponse(row, deps, { log, signal: lease.signal, live: shown });
    } catch (error) {
      if (!lease.signal.aborted) ending = unstorable(row, error, log);
    } finally {
      lease.release();
    }
    try {
      if (ending) await finish(row, ending, shown, log);
      else await release(row, lease.signal.reason as Cut, log);
    } finally {
      live.end(id);
    }
  }

  const unstorable = ({ blob }: StoredResponse, error: unknown, log: Log): Ending => {
    log.error('response.failed', { err: error });
    const { code, message } = publicError(error);
    return { status: 'failed', blob, error: { code, message }, last: null };
  };

  async function finish(row: StoredResponse, { last, ...end }: Ending, shown: LiveResponse, log: Log): Promise<void> {
    const { id, attempt, blob } = row;
    const write = () => storage.responses.finish(id, attempt, { ...end, endedAtMs: clock.now() });
    const isOurs = await withRetries(write, deps.retryPolicy, log, loop.stopping);
    log.info(`response.${isOurs ? end.status : 'lost'}`);
    if (!isOurs) return forgetAnswer(row);
    if (last && shown.events.length > 0) shown.events.push(last);
    shown.changes.changed();
    if (end.blob !== blob) await blobs.delete(blob);
  }

  async function release(row: StoredResponse, why: Cut, log: Log): Promise<void> {
    log.info(`response.${why}`);
    if (why === 'stopped')
      await storage.responses.release(row.id, row.attempt); // any server may continue at once
    else await forgetAnswer(row);
  }

  /** Deletes content of an attempt that is no longer the current one. */
  const forgetAnswer = ({ id, attempt }: StoredResponse): Promise<void> => blobs.delete(responseBlob(id, attempt));

  return {
    async start() {
      if (deps.exclusive) await storage.responses.releaseLeases(); // their holders are gone
      stopListening = live.listen(() => loop.wake());
      loop.start();
    },
    async stop() {
      stopListening();
      await loop.stop();
    },
  };
}
