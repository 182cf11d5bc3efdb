// Records the calls of episodes: which episode a request belongs to, whether it may still be added to, and the durable storing of its
// tokens before the answer ends. Knows no endpoint; services/chat/capture.ts turns an answer into a call.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Caller } from '#domain/caller';
import type { Episode, EpisodeBounds, EpisodeChoice, NewEpisode, NewEpisodeCall } from '#domain/episode';
import type { CaptureOutcome, EpisodeStore } from '#storage/episode-store';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { digestOf, packContent, type CallContent } from './call-content.ts';
import { packTokens, type SampledTokens } from './call-tokens.ts';
import { placeOf, type TreeCall } from './call-tree.ts';
import { ambiguousName, ended, notBegun, otherGroup, refusalOf } from './episode-errors.ts';
import type { EpisodeTrees } from './episode-trees.ts';

/** The episode that a request names. */
export interface EpisodeRef {
  readonly name: string;
  readonly group: string | null;
  /** False: a judge's or a tool's call, which is recorded and not trained. */
  readonly isTrained: boolean;
  /** The `id` of the answer that the client will see. */
  readonly answerId: string;
}

/** The model that answers; `modelId` is null for a base model, `step` is the checkpoint's. */
export interface AnsweringModel {
  readonly servedName: string;
  readonly modelId: string | null;
  readonly step: number | null;
}

export interface SampledChoice extends SampledTokens, Omit<EpisodeChoice, 'tokenCount'> {}

export interface SampledCall {
  readonly promptTokens: readonly number[];
  readonly choices: readonly SampledChoice[];
  readonly reshapedBy: readonly string[];
  /** Cut off before its end. */
  readonly isCut: boolean;
  readonly content: CallContent;
}

export interface Recording {
  /** Durable when it resolves. Throws `episode_conflict`, `too_many_requests`, and what the storage throws. */
  record(call: SampledCall): Promise<void>;
}

export interface Recorder {
  /**
   * Throws `episode_conflict`, `invalid_request`, `too_many_requests`: whatever would refuse the call, before it is answered.
   * `promptTokens`: of its longest prompt.
   */
  begin(caller: Caller, episode: EpisodeRef, model: AnsweringModel, promptTokens: number): Promise<Recording>;
}

export interface RecorderDeps {
  readonly store: EpisodeStore;
  readonly trees: EpisodeTrees;
  readonly limits: Pick<AccountLimits, 'storing'>;
  readonly bounds: EpisodeBounds;
  readonly clock: Clock;
}

/** To name the models among which a client must choose. */
const SAME_NAME_MAX = 20;

/** A call finds its place among the earlier ones. */
interface Planned {
  readonly call: NewEpisodeCall;
  readonly node: TreeCall;
}

export function createRecorder({ store, trees, limits, bounds, clock }: RecorderDeps): Recorder {
  /** The episode that exists, or the model for which it begins. */
  async function findEpisode(
    { entity }: Caller,
    { name, isTrained }: EpisodeRef,
    { modelId, servedName }: AnsweringModel,
  ): Promise<Episode | { modelId: string }> {
    const own = modelId === null ? null : await store.findOfModel(modelId, name);
    if (own || (modelId !== null && isTrained)) return own ?? { modelId: modelId! };
    // A judge: its answer belongs to the episode that another model plays.
    const others = await store.findByName(entity, name, SAME_NAME_MAX);
    const open = others.filter(({ status }) => status === 'open');
    if (open.length > 1) throw ambiguousName(name, open, 'call');
    const found = open[0] ?? others[0];
    if (found) return found;
    if (modelId !== null) return { modelId };
    throw notBegun(name, servedName);
  }

  async function plan(
    episode: Pick<Episode, 'id' | 'callCount'> | null,
    { promptTokens, choices, reshapedBy, isCut, content }: SampledCall,
    known: Pick<NewEpisodeCall, 'id' | 'answerId' | 'model' | 'policyStep' | 'createdAtMs'> & { isTrained: boolean },
  ): Promise<Planned> {
    const tree = episode ? await trees.of(episode.id, episode.callCount) : [];
    const messageDigests = (content.messages ?? []).map(digestOf);
    const place = placeOf(tree, { promptTokens, messageDigests });
    const { parent = null, parentChoice = null, sharedTokenCount = 0, sharedMessages = 0 } = place ?? {};
    const toolsDigest = digestOf(content.tools);
    const sharesTools = parent !== null && parent.toolsDigest === toolsDigest;
    const promptTail = Int32Array.from(promptTokens.slice(sharedTokenCount));
    const packed = await packContent({
      ...content,
      messages: content.messages?.slice(sharedMessages) ?? null,
      sharedMessages,
      tools: sharesTools ? null : content.tools,
      sharesTools,
    });
    const { isTrained, ...about } = known;
    return {
      call: {
        ...about,
        isTrainable: isTrained && !isCut,
        isCut,
        reshapedBy,
        choices: choices.map(({ tokenIds, finishReason, isConstrained }) => ({
          ...{ tokenCount: tokenIds.length, finishReason, isConstrained },
        })),
        ...{ parentId: parent?.id ?? null, parentChoice, sharedTokenCount, promptTokenCount: promptTokens.length },
        tokens: packTokens({ promptTail, choices }),
        content: packed,
      },
      node: {
        ...{ id: known.id, parent, parentChoice, sharedTokenCount, promptTail, sharedMessages, toolsDigest },
        choices: choices.map(({ tokenIds }) => tokenIds),
        messageDigests: messageDigests.slice(sharedMessages),
      },
    };
  }

  function checkStored(outcome: CaptureOutcome, { groupName, name }: NewEpisode, node: TreeCall): void {
    if (outcome.outcome === 'ended') throw ended(outcome.episode);
    if (outcome.outcome === 'other_group') throw otherGroup(outcome.episode, groupName!);
    if (outcome.outcome !== 'stored') throw refusalOf(outcome.outcome, name, bounds);
    trees.add(outcome.episode.id, node, outcome.ordinal);
  }

  return {
    async begin(caller, ref, model, promptTokens) {
      const found = await findEpisode(caller, ref, model);
      const before = 'id' in found ? found : null;
      const modelId = before?.modelId ?? found.modelId;
      if (before) checkOpen(before, ref, bounds);
      else if (!(await store.mayBegin(caller.entity, bounds.openMax)))
        throw refusalOf('too_many_open', ref.name, bounds);
      if (promptTokens > bounds.tokensMax) throw refusalOf('too_many_tokens', ref.name, bounds);
      await limits.storing(caller, async (bytes) => bytes.hold(0));
      const isOwn = model.modelId === modelId;

      return {
        async record(sampled) {
          const { name, group: groupName, answerId, isTrained } = ref;
          const known = {
            ...{ id: createId(), answerId, model: model.servedName, createdAtMs: clock.now() },
            policyStep: isOwn ? model.step : null,
            isTrained: isTrained && isOwn,
          };
          const episode = before ?? (await store.findOfModel(modelId, name));
          const of = {
            ...{ id: episode?.id ?? createId(), isBegun: episode !== null },
            ...{ entity: caller.entity, modelId, name, groupName, metadata: {} },
          };
          const { call, node } = await plan(episode, sampled, known);
          const outcome = await limits.storing(caller, ({ payer }) => store.capture(call, of, bounds, payer));
          checkStored(outcome, of, node);
        },
      };
    },
  };
}

/** What would be refused at the end is refused before anything is generated. */
function checkOpen(episode: Episode, { name, group }: EpisodeRef, bounds: EpisodeBounds): void {
  if (episode.status !== 'open') throw ended(episode);
  if (group !== null && episode.groupName !== null && group !== episode.groupName) throw otherGroup(episode, group);
  if (episode.callCount >= bounds.callsMax) throw refusalOf('too_many_calls', name, bounds);
  if (episode.tokenCount >= bounds.tokensMax) throw refusalOf('too_many_tokens', name, bounds);
}
