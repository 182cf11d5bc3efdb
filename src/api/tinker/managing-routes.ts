// Lists of sessions, training runs and saved weights, for their owner, and operations on saved weights.
import { AppError } from '#domain/errors';
import { PAGE_WEIGHT_MAX } from '#domain/page';
import { tinkerPath, type TinkerCheckpoint, type TinkerRun } from '#domain/tinker';
import type { Caller } from '#domain/caller';
import type { Tinker } from '#services/tinker/tinker';
import type { Endpoint } from '../http/endpoint.ts';
import { isoOrNull } from '../http/time.ts';
import * as answers from './tinker-answers.ts';
import { tinkerRoute } from './tinker-endpoint.ts';
import * as wire from './tinker-schema.ts';

/** Each may bring two saves with metadata. */
const RUNS_AT_ONCE = 20;

const CHECKPOINT_PATH = '/training_runs/{run_id}/checkpoints/{kind}/{name}';

export function managingRoutes({ sessions, saves }: Pick<Tinker, 'sessions' | 'saves'>): Endpoint[] {
  const read = { access: 'read', errors: [404] } as const;
  const change = { access: 'train', errors: [404], answer: null } as const;

  async function named(caller: Caller, params: Readonly<Record<string, string>>): Promise<TinkerCheckpoint> {
    const path = `tinker://${params['run_id']}/${params['kind']}/${params['name']}`;
    return (await saves.findOwn(caller.entity, path)) ?? noWeights(path);
  }

  /** As many as an answer may have, and one at least. */
  async function describe({ entity }: Caller, runs: readonly TinkerRun[]) {
    const described: ReturnType<typeof toRun>[] = [];
    let weight = 0;
    for (let at = 0; at < runs.length; at += RUNS_AT_ONCE) {
      const some = runs.slice(at, at + RUNS_AT_ONCE);
      const newest = await saves.newest(entity, some);
      for (const run of some) {
        const each = toRun(run, newest.get(run.id) ?? []);
        weight += JSON.stringify(each).length;
        if (described.length > 0 && weight > PAGE_WEIGHT_MAX) return described;
        described.push(each);
      }
    }
    return described;
  }

  return [
    tinkerRoute('GET /training_runs', {
      ...read,
      summary: 'List training runs, newest first. `accessible` includes those of other teams that published weights',
      query: wire.runsQuery,
      answer: answers.runs,
      async handle({ caller, query: { limit, offset, access_scope: scope } }) {
        const { rows, total } = await sessions.listRuns(caller, scope, { limit, offset });
        return { training_runs: await describe(caller, rows), cursor: { offset, limit, total_count: total } };
      },
    }),
    tinkerRoute('GET /training_runs/{run_id}', {
      ...read,
      summary: 'Read a training run',
      query: wire.scopeQuery,
      answer: answers.run,
      async handle({ caller, params, query: { access_scope: scope } }) {
        const id = params['run_id']!;
        const run = await (scope === 'owned' ? sessions.getRun(caller, id) : sessions.readRun(caller, id));
        return (await describe(caller, [run]))[0]!;
      },
    }),
    tinkerRoute('GET /training_runs/{run_id}/checkpoints', {
      ...read,
      summary:
        'List the saved weights of a training run, newest first. For a run of another team: only published weights',
      query: wire.ofRunQuery,
      answer: answers.checkpoints,
      async handle({ caller, params, query: { limit, offset } }) {
        const run = await sessions.readRun(caller, params['run_id']!);
        const { rows, total } = await saves.list(caller.entity, run, { limit, offset });
        return { checkpoints: rows.map(toCheckpoint), cursor: { offset, limit, total_count: total } };
      },
    }),
    tinkerRoute('GET /checkpoints', {
      ...read,
      summary: 'List the saved weights of all training runs, newest first',
      query: wire.sliceQuery,
      answer: answers.checkpoints,
      async handle({ caller, query: { limit, offset } }) {
        const { rows, total } = await saves.list(caller.entity, null, { limit, offset });
        return { checkpoints: rows.map(toCheckpoint), cursor: { offset, limit, total_count: total } };
      },
    }),
    tinkerRoute(`DELETE ${CHECKPOINT_PATH}`, {
      ...change,
      summary: 'Delete saved weights',
      async handle({ caller, params }) {
        await saves.delete(await named(caller, params));
      },
    }),
    tinkerRoute(`POST ${CHECKPOINT_PATH}/publish`, {
      ...change,
      summary: 'Publish saved weights: every team on this server can read them',
      async handle({ caller, params }) {
        await saves.publish(await named(caller, params), true);
      },
    }),
    tinkerRoute(`DELETE ${CHECKPOINT_PATH}/publish`, {
      ...change,
      summary: 'Unpublish saved weights: only their own team can read them',
      async handle({ caller, params }) {
        await saves.publish(await named(caller, params), false);
      },
    }),
    tinkerRoute(`PUT ${CHECKPOINT_PATH}/ttl`, {
      ...change,
      summary: 'Set when saved weights are deleted. Null: never',
      body: wire.ttlBody,
      async handle({ caller, params, body }) {
        await saves.expire(await named(caller, params), body.ttl_seconds ?? null);
      },
    }),
    tinkerRoute('POST /weights_info', {
      ...read,
      summary: 'Read what saved weights were trained from',
      body: wire.weightsInfo,
      answer: answers.weightsInfo,
      async handle({ caller, body: { tinker_path: path } }) {
        const saved = (await saves.find(caller.entity, path)) ?? noWeights(path);
        const { rank, attention, mlp, unembed } = await saves.describe(saved);
        const trained = { train_unembed: unembed, train_mlp: mlp, train_attn: attention };
        return { base_model: saved.run.servedAs, is_lora: true, lora_rank: rank, ...trained, name: saved.named.name };
      },
    }),
    tinkerRoute('GET /sessions', {
      ...read,
      summary: 'List sessions, newest first',
      query: wire.sliceQuery,
      answer: answers.sessions,
      async handle({ caller, query: { limit, offset } }) {
        const { rows } = await sessions.list(caller, { limit, offset });
        return { sessions: rows };
      },
    }),
    tinkerRoute('GET /sessions/{session_id}', {
      ...read,
      summary: 'Read the training runs and sampling sessions of a session',
      query: wire.scopeQuery,
      answer: answers.describedSession,
      async handle({ caller, params }) {
        const { session, runIds, samplerIds } = await sessions.describe(caller, params['session_id']!);
        return { training_run_ids: runIds, sampler_ids: samplerIds, user_metadata: toTexts(session.metadata) };
      },
    }),
  ];
}

function noWeights(path: string): never {
  throw new AppError('checkpoint_not_found', `There are no saved weights ${path.slice(0, 300)}.`);
}

const CHECKPOINT_TYPES = { weights: 'training', sampler_weights: 'sampler', external_weights: 'external' } as const;

/** The SDK sends any values and reads texts only: one number would cost it a whole list. */
const toTexts = (metadata: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );

const toCheckpoint = (checkpoint: TinkerCheckpoint) => ({
  checkpoint_id: `${checkpoint.kind}/${checkpoint.name}`,
  checkpoint_type: CHECKPOINT_TYPES[checkpoint.kind],
  time: new Date(checkpoint.createdAtMs).toISOString(),
  tinker_path: tinkerPath(checkpoint),
  size_bytes: checkpoint.sizeBytes,
  public: checkpoint.publishedAtMs !== null,
  user_metadata: toTexts(checkpoint.metadata),
  expires_at: isoOrNull(checkpoint.expiresAtMs),
});

function toRun(run: TinkerRun, checkpoints: readonly TinkerCheckpoint[]) {
  const last = (kind: TinkerCheckpoint['kind']) => checkpoints.find((each) => each.kind === kind);
  const [weights, sampler] = [last('weights'), last('sampler_weights')];
  return {
    training_run_id: run.id,
    base_model: run.servedAs,
    model_owner: run.entity,
    is_lora: true,
    lora_rank: run.lora.rank,
    corrupted: false,
    last_request_time: new Date(run.usedAtMs).toISOString(),
    ...(weights ? { last_checkpoint: toCheckpoint(weights) } : {}),
    ...(sampler ? { last_sampler_checkpoint: toCheckpoint(sampler) } : {}),
    user_metadata: toTexts(run.metadata),
  };
}
