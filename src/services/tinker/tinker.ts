// Puts the parts of the Tinker protocol together for the routes. run-worker.ts executes training runs.
import { createJobEvents, type JobEvents } from '../jobs/job-events.ts';
import { createOperations, type Operations, type OperationsDeps } from './operations.ts';
import { createSamplers, type Samplers, type SamplersDeps } from './samplers.ts';
import { createSampling, type Sampling, type SamplingDeps } from './sampling.ts';
import { createSaves, type Saves } from './saves.ts';
import { createTinkerNames, type TinkerNames } from './tinker-names.ts';
import { createTinkerSessions, type TinkerSessions, type TinkerSessionsDeps } from './tinker-sessions.ts';

export interface Tinker {
  readonly names: TinkerNames;
  readonly sessions: TinkerSessions;
  readonly operations: Operations;
  readonly samplers: Samplers;
  readonly sampling: Sampling;
  readonly saves: Saves;
  /** For executors of training runs. */
  readonly runEvents: JobEvents;
}

export interface TinkerDeps
  extends
    Omit<OperationsDeps, 'sessions' | 'runEvents'>,
    Omit<SamplersDeps, 'sessions' | 'names' | 'saves'>,
    Omit<SamplingDeps, 'samplers' | 'events' | 'limits'>,
    Omit<TinkerSessionsDeps, 'names' | 'saves'> {
  readonly limits: OperationsDeps['limits'] & SamplingDeps['limits'];
  /** Alias → base model. */
  readonly aliases: ReadonlyMap<string, string>;
}

export function createTinker(deps: TinkerDeps): Tinker {
  const runEvents = createJobEvents();
  const names = createTinkerNames(deps.baseModels, deps.aliases);
  const saves = createSaves(deps);
  const sessions = createTinkerSessions({ ...deps, names, saves });
  const samplers = createSamplers({ ...deps, names, saves, sessions });
  return {
    names,
    sessions,
    saves,
    samplers,
    runEvents,
    operations: createOperations({ ...deps, sessions, runEvents }),
    sampling: createSampling({ ...deps, samplers, events: createJobEvents() }),
  };
}
