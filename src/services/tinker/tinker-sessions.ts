// Sessions of the Tinker protocol, and their training runs. A run is registered as a Whetstone model whose step 0 is its starting point;
// nothing is loaded before its first operation.
import { randomInt } from 'node:crypto';
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Checkpoint } from '#domain/checkpoint';
import { TINKER_ALPHA, type TinkerLora, type TinkerRun, type TinkerSession } from '#domain/tinker';
import type { Storage } from '#storage/storage';
import type { AccessScope, Sliced, Slice } from '#storage/tinker-store';
import type { Models } from '../models/models.ts';
import type { Saves } from './saves.ts';
import type { TinkerNames } from './tinker-names.ts';

export interface NewRun {
  readonly sessionId: string;
  readonly ordinal: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface FreshRun extends NewRun {
  readonly baseModel: string;
  readonly lora: Omit<TinkerLora, 'seed'> & { readonly seed: number | null };
}

export interface LoadedRun extends NewRun {
  /** Null: that of the weights. */
  readonly baseModel: string | null;
  readonly path: string;
  readonly optimizer: boolean;
}

export interface TinkerSessions {
  create(caller: Caller, session: Pick<TinkerSession, 'tags' | 'metadata'>): Promise<TinkerSession>;
  /** Throws `not_found`, as all of these do for another entity's. */
  get(caller: Caller, id: string): Promise<TinkerSession>;
  describe(caller: Caller, id: string): Promise<DescribedSession>;
  touch(caller: Caller, id: string): Promise<void>;
  end(caller: Caller, id: string): Promise<void>;
  /** Ids. */
  list(caller: Caller, slice: Slice): Promise<Sliced<string>>;
  /** Idempotent per position in the session. Throws `invalid_request` if another run has the position. */
  createRun(caller: Caller, run: FreshRun): Promise<TinkerRun>;
  /** Starts from saved weights. Throws `checkpoint_not_found`. */
  loadRun(caller: Caller, run: LoadedRun): Promise<TinkerRun>;
  getRun(caller: Caller, id: string): Promise<TinkerRun>;
  /** Also another entity's, if weights of it are published. */
  readRun(caller: Caller, id: string): Promise<TinkerRun>;
  listRuns(caller: Caller, scope: AccessScope, slice: Slice): Promise<Sliced<TinkerRun>>;
}

export interface DescribedSession {
  readonly session: TinkerSession;
  readonly runIds: readonly string[];
  readonly samplerIds: readonly string[];
}

export interface TinkerSessionsDeps {
  readonly storage: Storage;
  readonly models: Pick<Models, 'register'>;
  readonly names: TinkerNames;
  readonly saves: Pick<Saves, 'startingPoint' | 'describe'>;
  readonly clock: Clock;
}

const TINKER_PROJECT = 'tinker';
export const RANK_MAX = 128;

const runIdOf = ({ sessionId, ordinal }: Pick<NewRun, 'sessionId' | 'ordinal'>): string =>
  `${sessionId}:train:${ordinal}`;

export function createTinkerSessions({ storage, models, names, saves, clock }: TinkerSessionsDeps): TinkerSessions {
  const { tinker } = storage;

  async function get(caller: Caller, id: string): Promise<TinkerSession> {
    const session = await tinker.findSession(id);
    if (session && session.entity === caller.entity) return session;
    throw new AppError('not_found', `No session ${id.slice(0, 200)}.`);
  }

  async function findRun(caller: Caller, id: string): Promise<TinkerRun | null> {
    const run = await tinker.findRun(id);
    return run && run.entity === caller.entity ? run : null;
  }

  async function store(caller: Caller, about: NewRun, from: StartOfRun): Promise<TinkerRun> {
    const session = await get(caller, about.sessionId);
    const { base, servedAs, lora, source, resetsOptimizer } = from;
    const { rank, seed, attention, mlp, unembed = false } = lora;
    const registration = {
      entity: null,
      project: TINKER_PROJECT,
      name: `${session.id}-${about.ordinal}`,
      baseModel: base,
      returnExisting: true, // the request may be a repeat of one that was cut off after this
      fromCheckpoint: source,
      ...(source === null ? { lora: { rank, alpha: TINKER_ALPHA, seed, attention, mlp, unembed } } : {}),
    };
    const { model } = await models.register(caller, registration, createId());
    const nowMs = clock.now();
    return tinker.createRun({
      id: runIdOf(about),
      sessionId: session.id,
      entity: caller.entity,
      keyId: caller.keyId,
      modelId: model.id,
      baseModel: base,
      servedAs,
      lora,
      resetsOptimizer,
      metadata: about.metadata,
      attempt: 0,
      waitingFor: null,
      doneSeq: 0,
      stateSeq: 0,
      stateBlob: null,
      createdAtMs: nowMs,
      usedAtMs: nowMs,
    });
  }

  return {
    get,
    async create({ entity, keyId }, { tags, metadata }) {
      const nowMs = clock.now();
      const session = {
        id: createId(),
        entity,
        keyId,
        tags,
        metadata,
        createdAtMs: nowMs,
        seenAtMs: nowMs,
        endedAtMs: null,
      };
      await tinker.createSession(session);
      return session;
    },
    async describe(caller, id) {
      const session = await get(caller, id);
      return { session, runIds: await tinker.listRunIdsOf(id), samplerIds: await tinker.listSamplerIdsOf(id) };
    },
    async touch(caller, id) {
      await get(caller, id);
      await tinker.touchSession(id, clock.now());
    },
    async end(caller, id) {
      await get(caller, id);
      await tinker.endSession(id, clock.now());
    },
    list: ({ entity }, slice) => tinker.listSessions(entity, slice),

    async createRun(caller, run) {
      const base = names.get(run.baseModel);
      const existing = await findRun(caller, runIdOf(run));
      if (existing) return sameOrThrow(existing, { baseModel: base.id, lora: run.lora, resetsOptimizer: false });
      const lora = { ...run.lora, seed: run.lora.seed ?? randomInt(2 ** 31) };
      return store(caller, run, { base: base.id, servedAs: run.baseModel, lora, source: null, resetsOptimizer: false });
    },

    async loadRun(caller, run) {
      const resetsOptimizer = !run.optimizer;
      const existing = await findRun(caller, runIdOf(run));
      if (existing)
        return sameOrThrow(existing, { baseModel: existing.baseModel, lora: existing.lora, resetsOptimizer });
      const found = await saves.startingPoint(caller.entity, run.path, run.optimizer);
      const { baseModel, servedAs, lora } = found.run;
      names.refuseOther(run.baseModel, baseModel);
      return store(caller, run, {
        base: baseModel,
        servedAs: run.baseModel ?? servedAs,
        lora: { seed: lora.seed, ...(await saves.describe(found)) }, // the run may have loaded others than it began with
        source: found.checkpoint,
        resetsOptimizer,
      });
    },

    getRun: async (caller, id) => (await findRun(caller, id)) ?? noRun(id),
    async readRun(caller, id) {
      const own = await findRun(caller, id);
      if (own) return own;
      const published = await tinker.listCheckpoints({ runId: id, isPublished: true }, { offset: 0, limit: 1 });
      return (published.total > 0 && (await tinker.findRun(id))) || noRun(id);
    },
    listRuns: ({ entity }, scope, slice) => tinker.listRuns(entity, scope, slice),
  };
}

/** A repeat asks for what there is already. */
function sameOrThrow(
  existing: TinkerRun,
  asked: Pick<TinkerRun, 'baseModel' | 'resetsOptimizer'> & { readonly lora: FreshRun['lora'] },
): TinkerRun {
  const { lora } = asked;
  const has: FreshRun['lora'] = { ...existing.lora, unembed: existing.lora.unembed ?? lora.unembed ?? false };
  const isSame =
    existing.baseModel === asked.baseModel &&
    existing.resetsOptimizer === asked.resetsOptimizer &&
    (lora.seed === null || lora.seed === has.seed) &&
    (['rank', 'attention', 'mlp', 'unembed'] as const).every((each) => lora[each] === has[each]);
  if (isSame) return existing;
  throw new AppError('invalid_request', `${existing.id} was already created with other settings. Use another number.`, {
    param: 'model_seq_id',
  });
}

function noRun(id: string): never {
  throw new AppError('not_found', `No training run ${id.slice(0, 200)}.`);
}

interface StartOfRun {
  readonly base: string;
  readonly servedAs: string;
  readonly lora: TinkerLora;
  /** Null: a fresh adapter. */
  readonly source: Checkpoint | null;
  readonly resetsOptimizer: boolean;
}
