// Decides from the seed what dies, freezes or fails, and when: at any wait of any server. Bounds follow from the promises of the job runner:
// it gives a job up after 20 attempts that saved nothing, and after 8 deaths of its trainer in a row, so a run stays below these.
import { losePower } from './faulty-files.ts';
import { inProcess, type Fate, type Process } from './scheduler.ts';
import type { Slot, World } from './world.ts';

export interface Disturbance {
  /** Of servers, of machines (what was not fsynced is lost), of trainers. */
  readonly kills: { server: number; machine: number; trainer: number };
  /** Not counted as kills. */
  readonly others: { freezes: number; stops: number; faults: number };
}

export interface Harshness {
  /** A server's wait is disturbed once in so many. */
  readonly every: number;
  readonly killsMax: number;
  /** Times at which a server freezes for a while, or is stopped in good order. */
  readonly pausesMax: number;
  /** The machine loses its power; only where one server has a disk. */
  readonly power: boolean;
}

const TRAINER_KILLS_MAX = 6;
/** A job has many more waits for disks than for its trainer. */
const VERBS_WEIGH = 8;
/** After a commit, and before anybody learns of it, is where promises are kept or broken. */
const COMMITS_WEIGH = 4;
const FAULTS_MAX = 8;
const FREEZE_MS_MAX = 70_000;

const isStorage = (label: string): boolean =>
  /^(?:sql|commit|put|get|list|delete|read|write|fsync|rename|create) ?/.test(label);

export function disturb(world: World, { every, killsMax, pausesMax, power }: Harshness): Disturbance {
  const { scheduler, slots, outside } = world;
  const { random } = scheduler;
  const made: Disturbance = {
    kills: { server: 0, machine: 0, trainer: 0 },
    others: { freezes: 0, stops: 0, faults: 0 },
  };
  const slotOf = (process: Process): Slot | undefined => slots.find(({ server }) => server?.process === process);

  function freeze(process: Process): Fate {
    made.others.freezes++;
    process.frozenUntilMs = scheduler.now() + random.next() * FREEZE_MS_MAX;
    return 'passes';
  }

  function stop({ server }: Slot): Fate {
    made.others.stops++;
    inProcess(outside, () => {
      const { process, runner } = server!;
      void scheduler
        .wait('SIGTERM', 0, () => undefined)
        .then(() => scheduler.call(process, () => runner.stop()))
        .catch(() => undefined)
        .then(() => scheduler.kill(process));
    });
    return 'passes';
  }

  function failOnce(): Fate {
    made.others.faults++;
    return random.integer(2) === 0 ? 'fails before' : 'fails after';
  }

  function killTrainer({ server }: Slot): Fate {
    made.kills.trainer++;
    server!.trainer.kill();
    return 'passes';
  }

  function die(process: Process): Fate {
    if (power && random.integer(2) === 0) {
      made.kills.machine++;
      process.atDeath.push(() => losePower(random));
    } else made.kills.server++;
    return random.integer(2) === 0 ? 'dies before' : 'dies after';
  }

  scheduler.onWait = (process, label) => {
    if (!process.name.startsWith('server')) return 'passes';
    const isVerb = label.startsWith('engine');
    const weight = isVerb ? VERBS_WEIGH : label === 'commit' ? COMMITS_WEIGH : 1;
    if (random.integer(Math.ceil(every / weight)) > 0) return 'passes';
    const { server, machine, trainer } = made.kills;
    if (server + machine + trainer >= killsMax) return 'passes';
    const slot = slotOf(process);
    const mayDoMore = made.others.freezes + made.others.stops < pausesMax;
    if (mayDoMore && pausesMax > killsMax && random.integer(2) === 0) return freeze(process);
    const choice = random.integer(isVerb ? 3 : 6);
    if (choice === 0 && mayDoMore) return freeze(process);
    if (choice === 1 && isVerb && slot && trainer < TRAINER_KILLS_MAX) return killTrainer(slot);
    if (choice === 1 && !isVerb && slot && mayDoMore) return stop(slot);
    if (choice === 2 && isStorage(label) && made.others.faults < FAULTS_MAX) return failOnce();
    return die(process);
  };
  return made;
}
