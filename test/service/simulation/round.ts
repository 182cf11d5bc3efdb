// One run of the simulation from one seed: a world, clients, deaths, and what must hold afterwards.
import { createId } from '#base/ids';
import { createRandom } from '#base/random';
import { compareOutcome, Violation, type JobOutcome } from './audit.ts';
import { useJob, type AskedJob } from './clients.ts';
import { disturb, type Disturbance } from './disturber.ts';
import { KINDS, type Kind } from './kinds.ts';
import { inProcess, Stuck } from './scheduler.ts';
import type { SharedDatabase } from './shared-database.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

const ALL_KINDS = Object.keys(KINDS) as Kind[];
/** Between the kinds of a model's jobs: few, because every sequence of kinds is also run undisturbed. */
const STRIDES = [0, 1, 3];
/** All jobs have ended by then, whatever died; simulated time. */
const LIMIT_MS = 4 * 60 * 60_000;
/** A job may be begun 20 times before it has saved anything. Where servers share a database, many freezes find stale ones. */
const MANNERS = [
  { killsMax: 5, pausesMax: 13 },
  { killsMax: 14, pausesMax: 5 },
];
const CANCEL_ONE_IN = 5;
const CANCEL_MS_MAX = 20_000;
/** By then a job has been claimed, if there is room for it. */
const CLAIM_MS = 1_000;

/** Results of undisturbed runs, by the kinds of a model's jobs in their order. */
export type KnownOutcomes = Map<string, JobOutcome>;

export interface RoundResult extends Disturbance {
  readonly jobs: number;
}

export class SimulationFailed extends Error {
  readonly kills: number;
  readonly #history: readonly string[];

  constructor(seed: number, kills: number, cause: unknown, history: readonly string[]) {
    super(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.kills = kills;
    this.#history = history;
  }

  /** The last waits before it. */
  history(count: number): string {
    return this.#history.slice(-count).join('\n');
  }
}

export async function runRound(database: SharedDatabase, seed: number, known: KnownOutcomes): Promise<RoundResult> {
  const random = createRandom(seed);
  const pick = <T>(choices: readonly T[]): T => choices[random.integer(choices.length)]!;
  const sharing = random.integer(2) === 0;
  const kinds = Array.from({ length: pick([1, 1, 2]) }, () => {
    const [first, stride] = [random.integer(ALL_KINDS.length), pick(STRIDES)];
    return Array.from({ length: pick([1, 2, 3]) }, (_, i) => ALL_KINDS[(first + i * stride) % ALL_KINDS.length]!);
  });
  const options: WorldOptions = {
    seed,
    sharing,
    servers: sharing ? pick([2, 3]) : 1,
    saveEveryMs: pick([0, 0, 3_000, 20_000]),
    verbMsMax: pick([1_000, 1_000, 12_000]),
    models: kinds.length,
    kinds: kinds.flat(),
  };
  const world = await createWorld(database, options);
  const made = disturb(world, {
    every: pick([15, 40, 100]),
    power: !sharing,
    ...pick(sharing ? MANNERS : MANNERS.slice(1)),
  });
  const killed = () => made.kills.server + made.kills.machine + made.kills.trainer;
  try {
    const asked = world.models.map((modelId, m) => kinds[m]!.map((kind) => anAsk(modelId, kind)));
    const cancels = asked.map((jobs) =>
      jobs.map(() => (random.integer(CANCEL_ONE_IN) === 0 ? random.next() * pick([CANCEL_MS_MAX, CLAIM_MS]) : null)),
    );
    await useAll(world, asked, cancels);
    const ended: EndedJob[] = [];
    for (const jobs of asked) ended.push(...(await outcomesOf(world, jobs)));
    world.close(); // undisturbed runs use the same database
    for (const each of ended) await compareJob(database, each, known);
    return { ...made, jobs: asked.flat().length };
  } catch (error) {
    throw new SimulationFailed(seed, killed(), asViolation(error), world.scheduler.history);
  } finally {
    world.close();
  }
}

const anAsk = (modelId: string, kind: Kind): AskedJob => ({
  id: createId(),
  kind,
  modelId,
  isCancelled: false,
  isOver: false,
});

const asViolation = (error: unknown): unknown =>
  error instanceof Stuck ? new Violation(`a job hangs: ${error.message}`) : error;

/** One model's jobs are submitted one after another, so that their order is known; they wait and run as the server decides. */
async function useAll(
  world: World,
  asked: readonly AskedJob[][],
  cancels: readonly (number | null)[][],
): Promise<void> {
  let over = 0;
  const jobs = asked.flat();
  inProcess(world.outside, () => {
    asked.forEach((ofModel, m) => {
      let before = Promise.resolve();
      ofModel.forEach((job, j) => {
        before = before.then(
          () =>
            new Promise((accepted) => {
              useJob(world, job, cancels[m]![j]!, accepted).then(
                () => over++,
                (error: unknown) => world.fail(error),
              );
            }),
        );
      });
    });
  });
  await world.runUntil(() => over === jobs.length, LIMIT_MS);
}

interface EndedJob {
  readonly job: AskedJob;
  readonly outcome: JobOutcome;
  /** The kinds of its model's jobs that succeeded before it, and its own. */
  readonly chain: readonly Kind[];
}

async function outcomesOf(world: World, jobs: readonly AskedJob[]): Promise<EndedJob[]> {
  const succeeded: Kind[] = [];
  const ended: EndedJob[] = [];
  for (const job of jobs) {
    const outcome = await world.outcomeOf(job.id);
    ended.push({ job, outcome, chain: [...succeeded, job.kind] });
    if (outcome.status === 'succeeded') succeeded.push(job.kind);
  }
  return ended;
}

async function compareJob(database: SharedDatabase, { job, outcome, chain }: EndedJob, known: KnownOutcomes) {
  const expected = known.get(nameOf(chain)) ?? (await undisturbed(database, chain, known));
  compareOutcome(`the last job of ${nameOf(chain)}`, outcome, expected, job.isCancelled);
}

const nameOf = (chain: readonly Kind[]): string => chain.join(', ');

async function undisturbed(
  database: SharedDatabase,
  kinds: readonly Kind[],
  known: KnownOutcomes,
): Promise<JobOutcome> {
  const world = await createWorld(database, {
    ...{ seed: 1, sharing: false, servers: 1, models: 1, kinds },
    ...{ saveEveryMs: 0, verbMsMax: 1_000 },
  });
  try {
    const asked = kinds.map((kind) => anAsk(world.models[0]!, kind));
    await useAll(world, [asked], [asked.map(() => null)]);
    for (const [i, { id }] of asked.entries()) {
      const outcome = await world.outcomeOf(id);
      if (outcome.status !== 'succeeded')
        throw new Violation(`undisturbed, ${kinds[i]} ended as ${outcome.status}: ${outcome.errorMessage}`);
      known.set(nameOf(kinds.slice(0, i + 1)), outcome);
    }
    return known.get(nameOf(kinds))!;
  } finally {
    world.close();
  }
}
