// The operations on episodes of a property test. Names are few and bounds low, so that operations meet each other's rows.
import fc from 'fast-check';
import { EPISODE_STATUSES } from '#domain/episode';
import type { TestedStorage } from './plain-storage/tested-storage.ts';
import { asked, type Operation } from './asked.ts';

const BOUNDS = { openMax: 2, callsMax: 3, tokensMax: 12 };
const NAMES = ['a', 'b'];
const GROUPS = [null, 'g', 'h'];
/** Ids of the episodes of `beginEpisodes`, and of the first ones of a sequence of operations. */
const EPISODES = ['ep0', 'ep1', 'ep2', ...Array.from({ length: 8 }, (_, sequence) => `ep${sequence + 10}`)];
const CALLS = Array.from({ length: 20 }, (_, sequence) => `call${sequence + 10}`);

/** Of each model one that has a reward, and an open one of the first. */
export async function beginEpisodes(
  { episodes }: TestedStorage,
  models: readonly string[],
  entityOf: (modelId: string) => string,
) {
  const by = { keyId: 'k', keyBytesMax: null, entityBytesMax: null };
  const end = { outcome: 'completed' as const, reward: 1, metrics: {}, turnRewards: {} };
  for (const [at, modelId] of [...models, models[0]!].entries()) {
    const episode = {
      id: `ep${at}`,
      entity: entityOf(modelId),
      modelId,
      name: `begun${at}`,
      groupName: 'g',
      metadata: {},
    };
    await episodes.create(episode, BOUNDS, by, 1);
    if (at < models.length) await episodes.reward(episode.id, end, 1);
  }
}

export function episodeOperations(
  models: readonly string[],
  jobs: readonly string[],
  entityOf: (modelId: string) => string,
): fc.WeightedArbitrary<Operation>[] {
  const model = fc.constantFrom(...models);
  const id = fc.constantFrom(...EPISODES);
  const payer = fc.record({
    keyId: fc.constantFrom('k', 'l'),
    keyBytesMax: fc.constantFrom(null, null, 1_200),
    entityBytesMax: fc.constantFrom(null, null, 2_400),
  });
  const of = fc.record({ modelId: model, name: fc.constantFrom(...NAMES), groupName: fc.constantFrom(...GROUPS) });
  return [
    asked('episodes.create', 3, fc.tuple(of, payer), ({ episodes }, [named, by], { nowMs, sequence }) => {
      const episode = { ...named, id: `ep${sequence}`, entity: entityOf(named.modelId), metadata: { sequence } };
      return episodes.create(episode, BOUNDS, by, nowMs);
    }),
    asked(
      'episodes.capture',
      10,
      fc.record({
        named: of,
        isBegun: fc.boolean(),
        by: payer,
        repeats: fc.option(fc.constantFrom(...CALLS), { freq: 8 }),
        parentId: fc.option(fc.constantFrom(...CALLS), { freq: 3 }),
        isTrainable: fc.boolean(),
        tokens: fc.uint8Array({ maxLength: 3 }),
      }),
      ({ episodes }, { named, isBegun, by, repeats, parentId, isTrainable, tokens }, { nowMs, sequence }) =>
        episodes.capture(
          {
            ...{ id: repeats ?? `call${sequence}`, answerId: `answer${sequence}`, model: 'm', policyStep: null },
            ...{ isTrainable, isCut: !isTrainable, reshapedBy: [], parentId, parentChoice: null, sharedTokenCount: 1 },
            ...{ promptTokenCount: 3, createdAtMs: nowMs, tokens, content: Uint8Array.of(1) },
            choices: [{ tokenCount: 1, finishReason: null, isConstrained: false }],
          },
          {
            ...named,
            isBegun,
            id: isBegun ? EPISODES[sequence % EPISODES.length]! : `ep${sequence}`,
            entity: entityOf(named.modelId),
            metadata: {},
          },
          BOUNDS,
          by,
        ),
    ),
    asked(
      'episodes.reward',
      6,
      fc.record({ id, reward: fc.constantFrom(0, 1), groupName: fc.constantFrom(...GROUPS) }),
      ({ episodes }, { id: episodeId, reward, groupName }, { nowMs }) => {
        const end = { outcome: 'completed' as const, reward, metrics: {}, turnRewards: {} };
        return episodes.reward(episodeId, { ...end, ...(groupName === null ? {} : { groupName }) }, nowMs);
      },
    ),
    asked(
      'jobs.create of episodes',
      3,
      fc.tuple(fc.constantFrom(...jobs), model, fc.uniqueArray(id, { minLength: 1, maxLength: 2 })),
      (storage, [jobId, modelId, episodeIds], { nowMs }) =>
        Promise.all(
          episodeIds.map(async (each) => (await storage.episodes.find(each)) ?? { id: each, rewardedAtMs: null }),
        ).then((episodes) =>
          storage.jobs.create({
            ...{ id: jobId, type: 'rl', modelId, entity: entityOf(modelId), keyId: 'k', bodyBlob: jobId },
            ...{ createdAtMs: nowMs, episodes },
          }),
        ),
    ),
    asked(
      'episodes.list',
      1,
      fc.record(
        {
          modelId: model,
          group: fc.constantFrom('g', 'h'),
          status: fc.constantFrom(...EPISODE_STATUSES),
        },
        { requiredKeys: [] },
      ),
      async ({ episodes }, { status, ...filter }) => {
        const of = { entity: entityOf(models[0]!), ...filter };
        const listed = { ...of, ...(status === undefined ? {} : { status }) };
        return [await episodes.list(listed, { after: null, limit: 4 }, 'desc'), await episodes.count(of, 2)];
      },
    ),
    asked(
      'episodes.groups',
      1,
      fc.tuple(
        model,
        fc.option(
          fc
            .record({
              state: fc.constantFrom('complete', 'stale', 'incomplete'),
              rewardedMin: fc.constant(1),
              stepMin: fc.option(fc.nat(3), { nil: undefined }),
            })
            .map((wanted) => (wanted.stepMin === 1 ? { ...wanted, isTrainable: true as const } : wanted)),
        ),
      ),
      ({ episodes }, [modelId, wanted]) => episodes.groups(modelId, 3, wanted ?? undefined),
    ),
    asked(
      'episodes.expire',
      2,
      fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 3 })),
      ({ episodes }, [ms, limit], { nowMs }) => episodes.expire(nowMs - ms, nowMs, limit),
    ),
    asked('episodes.mayBegin', 1, fc.tuple(model, fc.nat(3)), ({ episodes }, [modelId, max]) =>
      episodes.mayBegin(entityOf(modelId), max),
    ),
    asked('episodes.delete', 1, id, ({ episodes }, episodeId, { nowMs }) => episodes.delete(episodeId, nowMs)),
  ];
}
