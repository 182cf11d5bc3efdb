// Training data of an RL job from episodes: finds the episodes that a request names, and reads their calls as rollouts. Nothing is rendered or
// encoded again: every turn carries the tokens of its prompt and its answer as they were sampled. Knows no job.
import type { Caller } from '#domain/caller';
import type { ChatMessage } from '#domain/chat';
import { GROUP_SIZE_MIN, isEpisodeId, type Episode } from '#domain/episode';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { SampledTurn, Trajectory, TrajectoryGroup, Turn } from '#domain/trajectory';
import type { EpisodeStore } from '#storage/episode-store';
import { createPromptFolding } from '#training/folded-prompts';
import type { SaidAnswer } from './call-content.ts';
import { notFound } from './episode-errors.ts';
import { readCalls, readSaid, type ReadCall, type ReadChoice, type SaidCall } from './read-calls.ts';

export interface EpisodeRollouts {
  readonly episodes: readonly Episode[];
  /** What of the episodes is not trained. */
  readonly warnings: readonly string[];
  /** One group at a time. Can be read once. */
  groups(): AsyncGenerator<TrajectoryGroup>;
}

type Store = Pick<EpisodeStore, 'find' | 'findByName' | 'findOfModel' | 'calls'>;

const PAGE = 500;

/**
 * `named`: by group, ids or names of rewarded episodes of the model. Throws, with the place, `episode_not_found`, `episode_conflict` (no
 * reward yet, trained or expired) and `invalid_request` (a group of one, an episode named twice).
 */
export async function findRollouts(
  store: Store,
  { entity }: Pick<Caller, 'entity'>,
  { id: modelId }: Pick<Model, 'id'>,
  named: readonly (readonly string[])[],
): Promise<EpisodeRollouts> {
  const seen = new Map<string, string>();
  const found: Episode[][] = [];
  for (const [at, names] of named.entries()) {
    if (names.length < GROUP_SIZE_MIN)
      throw invalid(
        `episode_groups[${at}]`,
        `has ${names.length === 1 ? 'one episode' : 'no episodes'}. The rewards of a group are compared with each other: name at least ${GROUP_SIZE_MIN} episodes at the same task.`,
      );
    const group: Episode[] = [];
    for (const [i, name] of names.entries()) {
      const place = `episode_groups[${at}][${i}]`;
      const episode = isEpisodeId(name) ? await store.find(name) : await store.findOfModel(modelId, name);
      if (episode?.entity !== entity || episode.modelId !== modelId) throw await notFoundAt(store, entity, place, name);
      if (episode.status !== 'rewarded') throw notTrainable(place, episode);
      const before = seen.get(episode.id);
      if (before !== undefined) throw invalid(place, `is the same episode as ${before}. Name each episode once.`);
      seen.set(episode.id, place);
      group.push(episode);
    }
    found.push(group);
  }
  const warnings = await leftOut(store, found.flat());
  return {
    episodes: found.flat(),
    warnings,
    async *groups() {
      for (const episodes of found) {
        const trajectories: Trajectory[] = [];
        for (const episode of episodes) trajectories.push(await readRollout(store, episode));
        yield { trajectories, exceptionCount: 0, metrics: {} };
      }
    },
  };
}

async function readRollout(store: Store, episode: Episode): Promise<Trajectory> {
  const calls: ReadCall[] = [];
  for await (const call of readCalls(store, episode.id)) calls.push(call);
  const said = await saidOf(store, episode.id);
  const histories = calls
    .filter(({ parentId }) => parentId === null)
    .map((root) => ({
      turns: turnsOf(treeFrom(root, calls), said, episode),
      tools: said.get(root.id)?.content.tools ?? null,
    }));
  const { id, name, groupName, reward, metrics, metadata } = episode;
  const notes = {
    metadata: { ...metadata, episode_id: id, episode: name, ...(groupName ? { group: groupName } : {}) },
  };
  return { histories, reward: reward ?? 0, metrics, notes };
}

async function saidOf(store: Store, episodeId: string): Promise<Map<string, SaidCall>> {
  const said = new Map<string, SaidCall>();
  for (let from = 0; ; from += PAGE) {
    const page = await readSaid(store, episodeId, from, PAGE);
    for (const call of page) said.set(call.id, call);
    if (page.length < PAGE) return said;
  }
}

/** The call and those below it; the first child of a call follows it, so that a conversation that goes on is one sequence. */
function treeFrom(root: ReadCall, calls: readonly ReadCall[]): ReadCall[] {
  const ordered: ReadCall[] = [];
  const waiting = [root];
  for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) {
    ordered.push(call);
    const { id } = call;
    waiting.push(...calls.filter(({ parentId }) => parentId === id).toReversed());
  }
  return ordered;
}

/** All trained calls share the episode's reward; one that has a reward of its own has it in addition. */
function turnsOf(
  calls: readonly ReadCall[],
  said: ReadonlyMap<string, SaidCall>,
  { turnRewards }: Pick<Episode, 'turnRewards'>,
): Turn[] {
  const fold = createPromptFolding();
  return calls.flatMap((call): Turn[] => {
    const content = said.get(call.id)?.content;
    const asked = (content?.messages ?? []).filter(({ role }) => call.parentId === null || role !== 'assistant');
    const context = asked.map((message): Turn => ({ kind: 'message', message }));
    if (!isTrained(call)) return context;
    const { policyStep } = call;
    const reward = Object.hasOwn(turnRewards, call.answerId) ? turnRewards[call.answerId] : undefined;
    const sampled = call.choices.map((choice, i): SampledTurn => ({
      kind: 'sampled',
      message: messageOf(content?.answers[i]),
      finishReason: choice.finishReason ?? 'length',
      ...tokensOf(choice),
      promptTokenIds: fold([...call.promptTokens]),
      ...(choice.isConstrained ? { isConstrained: true as const } : {}),
      ...(call.reshapedBy.length > 0 ? { reshapedBy: call.reshapedBy } : {}),
      ...(policyStep === null ? {} : { policyStep }),
      ...(reward === undefined ? {} : { reward }),
    }));
    return [...context, ...sampled];
  });
}

const tokensOf = ({ tokenIds, logprobs }: ReadChoice): Pick<SampledTurn, 'tokens' | 'logprobs'> => ({
  tokens: [...tokenIds],
  logprobs: [...logprobs],
});

function messageOf(answer: SaidAnswer | undefined): ChatMessage {
  const calls = answer?.calls ?? [];
  return {
    role: 'assistant',
    content: answer?.content ?? '',
    ...(answer?.reasoning ? { reasoning_content: answer.reasoning } : {}),
    ...(calls.length > 0
      ? { tool_calls: calls.map((called, i) => ({ id: `call_${i}`, type: 'function' as const, function: called })) }
      : {}),
  };
}

const isTrained = ({ isTrainable, isCut }: Pick<ReadCall, 'isTrainable' | 'isCut'>): boolean => isTrainable && !isCut;

async function leftOut(store: Store, episodes: readonly Episode[]): Promise<string[]> {
  let [cut, untrained, rewarded, empty] = [0, 0, 0, 0];
  for (const { id, turnRewards, trainedTokenCount } of episodes) {
    if (trainedTokenCount === 0) empty++;
    for (let from = 0; ; from += PAGE) {
      const calls = await store.calls(id, from, PAGE, []);
      for (const call of calls) {
        if (call.isCut) cut++;
        else if (!call.isTrainable) untrained++;
        if (!isTrained(call) && Object.hasOwn(turnRewards, call.answerId)) rewarded++;
      }
      if (calls.length < PAGE) break;
    }
  }
  return [
    ...(empty > 0
      ? [
          `Episodes without a call that can be trained: ${empty}. Give the agent the episode's base_url, and name the job's model in its calls.`,
        ]
      : []),
    ...(cut > 0 ? [`Calls of episodes that were cut off before their end are not trained: ${cut}.`] : []),
    ...(untrained > 0
      ? [
          `Calls of episodes that another model answered, or that were sent with X-Whetstone-Train: false, are not trained: ${untrained}.`,
        ]
      : []),
    ...(rewarded > 0 ? [`turn_rewards of calls that are not trained were not used: ${rewarded}.`] : []),
  ];
}

const invalid = (place: string, problem: string): AppError =>
  new AppError('invalid_request', `${place} ${problem}`, { param: place });

/** The caller's own episodes of other models are named. */
async function notFoundAt(store: Store, entity: string, place: string, name: string): Promise<AppError> {
  const byId = isEpisodeId(name) ? await store.find(name) : null;
  const [other] = byId?.entity === entity ? [byId] : await store.findByName(entity, name, 1);
  const message = other
    ? `the episode \`${other.name}\` is one of the model ${other.modelId}. Name episodes of the job's model, or send model_id: ${other.modelId}.`
    : notFound(name).message;
  return new AppError('episode_not_found', `${place}: ${message}`, { param: place });
}

function notTrainable(place: string, { name, status, trainedBy }: Episode): AppError {
  const problems = {
    open: 'has no reward yet. Send it with POST /v1/preview/episodes/{episode}/reward',
    trained: `was used by the training job ${trainedBy}. Run the task again as a new episode`,
    expired: 'has expired, and its calls were deleted. Send the job sooner, or raise --episode-days',
    rewarded: '',
  };
  return new AppError('episode_conflict', `${place}: the episode \`${name}\` ${problems[status]}.`, { param: place });
}
