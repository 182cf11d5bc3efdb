// Lowers the priority of long computations (the sampler, long prompts, templates, job data) below the server's event loop, so that on a
// busy machine the loop gets a processor at once. On a machine with a free core nothing changes.
import { constants, getPriority, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

const BEHIND = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Applies to this process and threads that it starts later; in a thread, only to that thread, and only on Linux, since other systems
 * have no priority per thread. Never raises a priority that is already lower.
 */
export function lowerPriority(): void {
  if (!isMainThread && process.platform !== 'linux') return;
  if (getPriority() < BEHIND) setPriority(BEHIND);
}
