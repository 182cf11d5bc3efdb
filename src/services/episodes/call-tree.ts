// Which earlier call of an episode a call continues: the one that shares the longest beginning of tokens with its prompt. An agent that
// goes on continues an answer, a retry or a compaction branches off, a subagent begins a tree of its own. Pure; nothing is stored here.
import type { CallTokens } from './call-tokens.ts';

/** A call in memory: like its row, without what it shares with its parent. */
export interface TreeCall extends Pick<CallTokens, 'promptTail'> {
  readonly id: string;
  readonly parent: TreeCall | null;
  /** Null: nothing of the parent's answers is shared. */
  readonly parentChoice: number | null;
  readonly sharedTokenCount: number;
  readonly choices: readonly Int32Array[];
  readonly sharedMessages: number;
  /** Of the messages after those of the parent; empty for prompts that are no conversations. */
  readonly messageDigests: readonly string[];
  readonly toolsDigest: string;
}

export interface TreePosition {
  readonly parent: TreeCall;
  readonly parentChoice: number | null;
  readonly sharedTokenCount: number;
  readonly sharedMessages: number;
}

/** Without messages to compare, prompts that share less than this merely begin alike. */
const SHARED_TOKENS_MIN = 16;

/** Null: a tree begins here. `calls`: all earlier ones, parents before their children. */
export function placeOf(
  calls: readonly TreeCall[],
  { promptTokens, messageDigests }: { promptTokens: ArrayLike<number>; messageDigests: readonly string[] },
): TreePosition | null {
  const reached = new Map<TreeCall, number>();
  let best: Omit<TreePosition, 'sharedMessages'> | null = null;
  for (const call of calls) {
    reached.set(call, reachInPrompt(call, promptTokens, reached));
    for (let choice = -1; choice < call.choices.length; choice++) {
      const parentChoice = choice < 0 ? null : choice;
      const count = reachAlong(call, parentChoice, promptTokens, reached);
      if (count > (best?.sharedTokenCount ?? 0)) best = { parent: call, parentChoice, sharedTokenCount: count };
    }
  }
  if (best === null) return null;
  const sharedMessages = commonLength(messageDigests, digestsOf(best.parent));
  const isRelated = messageDigests.length > 0 ? sharedMessages > 0 : best.sharedTokenCount >= SHARED_TOKENS_MIN;
  return isRelated ? { ...best, sharedMessages } : null;
}

const promptLength = ({ sharedTokenCount, promptTail }: TreeCall): number => sharedTokenCount + promptTail.length;

/** How many tokens of the call's prompt are those of `tokens`. */
function reachInPrompt(call: TreeCall, tokens: ArrayLike<number>, reached: ReadonlyMap<TreeCall, number>): number {
  const { parent, parentChoice, sharedTokenCount, promptTail } = call;
  const above = parent === null ? 0 : reachAlong(parent, parentChoice, tokens, reached);
  if (above < sharedTokenCount) return above;
  return sharedTokenCount + commonLength(promptTail, tokens, sharedTokenCount);
}

/** The same for the call's prompt and one of its choices after it. */
function reachAlong(
  call: TreeCall,
  choice: number | null,
  tokens: ArrayLike<number>,
  reached: ReadonlyMap<TreeCall, number>,
): number {
  const inPrompt = reached.get(call)!;
  const length = promptLength(call);
  if (choice === null || inPrompt < length) return inPrompt;
  return length + commonLength(call.choices[choice]!, tokens, length);
}

/** How many elements of `list` are those of `other` from `from` on. */
function commonLength<T>(list: ArrayLike<T>, other: ArrayLike<T>, from = 0): number {
  const end = Math.min(list.length, other.length - from);
  let length = 0;
  while (length < end && list[length] === other[from + length]) length++;
  return length;
}

/** All messages of a call, those of its parents first. */
function digestsOf({ parent, sharedMessages, messageDigests }: TreeCall): readonly string[] {
  if (parent === null || sharedMessages === 0) return messageDigests;
  return [...digestsOf(parent).slice(0, sharedMessages), ...messageDigests];
}

/** The whole prompt of a call. */
export function promptOf(call: TreeCall): Int32Array {
  const prompt = new Int32Array(promptLength(call));
  prompt.set(call.promptTail, call.sharedTokenCount);
  let [until, child] = [call.sharedTokenCount, call];
  while (until > 0) {
    const { parent, parentChoice } = child as TreeCall & { parent: TreeCall };
    const answered = promptLength(parent);
    if (until > answered) prompt.set(parent.choices[parentChoice!]!.subarray(0, until - answered), answered);
    const end = Math.min(until, answered);
    if (end > parent.sharedTokenCount)
      prompt.set(parent.promptTail.subarray(0, end - parent.sharedTokenCount), parent.sharedTokenCount);
    until = Math.min(end, parent.sharedTokenCount);
    child = parent;
  }
  return prompt;
}
