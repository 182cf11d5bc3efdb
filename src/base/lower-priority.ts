// Puts what computes for long (the sampler, long prompts, templates, data of jobs) behind the server's own loop, which answers
// everybody: on a busy machine the loop gets a processor at once. On a machine with a free one nothing changes.
import { constants, getPriority, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

const BEHIND = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Of this process and the threads that it will start; in a thread, of that thread alone, and on Linux only: elsewhere threads have
 * no priority of their own. Whoever is further behind stays there.
 */
export function lowerPriority(): void {
  if (!isMainThread && process.platform !== 'linux') return;
  if (getPriority() < BEHIND) setPriority(BEHIND);
}
