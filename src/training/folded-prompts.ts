// Prompt ids of a history's turns, stored compactly. A turn's prompt repeats those of earlier turns, so whole prompts would grow with the
// square of the number of turns: what a prompt has in common with the previous one is stored as a length. Histories are folded when a
// job is submitted, and unfolded one turn at a time when they become sequences.
import type { PromptIds } from '#domain/trajectory';

/** Call it with the prompts of one history, in order. Prompts that share nothing stay lists. */
export function createPromptFolding(): (prompt: PromptIds) => PromptIds {
  const unfold = createPromptUnfolding();
  let before: readonly number[] = [];
  return (prompt) => {
    const ids = unfold(prompt);
    let shared = 0;
    while (shared < ids.length && ids[shared] === before[shared]) shared++;
    before = ids;
    return shared === 0 ? ids : { shared, rest: ids.slice(shared) };
  };
}

/** Call it with the results of folding, in the same order. */
export function createPromptUnfolding(): (prompt: PromptIds) => readonly number[] {
  let before: readonly number[] = [];
  return (prompt) => {
    before = 'shared' in prompt ? [...before.slice(0, prompt.shared), ...prompt.rest] : prompt;
    return before;
  };
}
