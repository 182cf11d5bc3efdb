// Completes the choices of an RL job from the server's memory of sampled tokens: missing tokens, the ids of the prompt (which choices of
// a chat answer do not carry), how they were sampled, and by which step. Done once, when the job is submitted, so that its stored body is complete
// and a replay does not depend on memory.
import { createYielder } from '#base/yield-to-loop';
import type { Model } from '#domain/model';
import type { History, NamedToken, SampledTurn, Trajectory, TrajectoryGroup } from '#domain/trajectory';
import { createPromptFolding } from '#training/folded-prompts';
import { createConversationDigest, textOf } from '../../chat/conversation-digest.ts';
import { agree, type ConversationKey, type SampledTokens, type Sampling } from '../../chat/sampled-tokens.ts';

/** One group at a time, with folded prompts: unfolded, they may be much longer than the body. */
export async function* recallTokens(
  groups: readonly TrajectoryGroup[],
  { entity, baseModel, id: modelId }: Pick<Model, 'entity' | 'baseModel' | 'id'>,
  memory: SampledTokens,
): AsyncGenerator<TrajectoryGroup> {
  const yieldToLoop = createYielder();
  for (const group of groups) {
    const trajectories: Trajectory[] = [];
    for (const trajectory of group.trajectories) {
      const histories = trajectory.histories.map((history) =>
        recallHistory(history, { entity, baseModel, modelId }, memory),
      );
      trajectories.push({ ...trajectory, histories });
      await yieldToLoop();
    }
    yield { ...group, trajectories };
  }
}

function recallHistory(history: History, who: Omit<ConversationKey, 'conversation'>, memory: SampledTokens): History {
  const conversation = createConversationDigest();
  const fold = createPromptFolding();
  const recalled = history.turns.map((turn) => {
    const asked = { ...who, conversation: conversation.read() };
    conversation.add(turn.message);
    if (turn.kind !== 'sampled') return turn;
    const complete = recallTurn(turn, asked, memory);
    const { promptTokenIds } = complete;
    return promptTokenIds ? { ...complete, promptTokenIds: fold(promptTokenIds) } : complete;
  });
  return { ...history, turns: recalled };
}

function recallTurn({ answer, ...turn }: SampledTurn, asked: ConversationKey, memory: SampledTokens): SampledTurn {
  const found = (answer && memory.findAnswer(asked, answer)) ?? findSampling(turn, asked, memory);
  if (!found) return turn;
  const promptTokenIds = turn.promptTokenIds ?? found.promptTokens;
  if (turn.tokens !== null && !isSampling(turn, found)) return { ...turn, promptTokenIds };
  const { policyStep: _, ...sent } = turn; // which may be a step of another model
  return {
    ...sent,
    promptTokenIds,
    tokens: found.tokenIds,
    logprobs: turn.tokens === null ? found.logprobs : turn.logprobs,
    ...(found.isConstrained ? { isConstrained: true as const } : {}),
    ...(found.reshapedBy.length > 0 ? { reshapedBy: found.reshapedBy } : {}),
    ...(found.policyStep === null ? {} : { policyStep: found.policyStep }),
  };
}

const isId = (token: NamedToken): token is number => typeof token === 'number';

/** Several token sequences can have the same text; the log-probabilities show which was sampled. */
const isSampling = ({ tokens, logprobs }: SampledTurn, found: Sampling): boolean =>
  logprobs !== null &&
  logprobs.some((logprob) => logprob !== null) &&
  agree(found.logprobs, logprobs) &&
  tokens!.every((token, i) => !isId(token) || token === found.tokenIds[i]);

function findSampling(
  { tokens, logprobs, message }: SampledTurn,
  asked: ConversationKey,
  memory: SampledTokens,
): Sampling | null {
  if (tokens?.every(isId)) return memory.findTokens(asked, tokens, logprobs);
  const calls = (message.tool_calls ?? []).map((call) => call.function);
  return memory.findWords(asked, { content: textOf(message.content), calls }, logprobs);
}
