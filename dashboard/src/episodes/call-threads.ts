// Arranges the calls of an episode as a person reads them: a conversation is a line of turns, and what branched off it (a retry, a
// compaction) stands beside the turn where it left. Of several continuations the one with most calls stays in the line, so that branches
// are nested at most as deep as the logarithm of the number of calls. Pure.
import type { EpisodeCall } from '../api/wire.ts';

/** What of a call decides its place. */
export type PlacedCall = Pick<EpisodeCall, 'id' | 'parent_id'>;

export interface Turn<Call extends PlacedCall> {
  readonly call: Call;
  /** Position in the episode, from 1. */
  readonly number: number;
  /** Other continuations of this call, in the order in which they began. */
  readonly branches: readonly Thread<Call>[];
}

export type Thread<Call extends PlacedCall> = readonly Turn<Call>[];

/** `calls`: in order; each comes after its parent. A thread for every tree. */
export function threadsOf<Call extends PlacedCall>(calls: readonly Call[]): Thread<Call>[] {
  const children = new Map<string | null, Call[]>();
  for (const call of calls) {
    const siblings = children.get(call.parent_id);
    if (siblings) siblings.push(call);
    else children.set(call.parent_id, [call]);
  }
  const sizes = new Map<string, number>();
  for (const { id } of calls.toReversed())
    sizes.set(
      id,
      (children.get(id) ?? []).reduce((sum, child) => sum + sizes.get(child.id)!, 1),
    );
  const numbers = new Map(calls.map(({ id }, at) => [id, at + 1]));

  function threadFrom(first: Call): Thread<Call> {
    const turns: Turn<Call>[] = [];
    for (let call: Call | undefined = first; call;) {
      const next: readonly Call[] = children.get(call.id) ?? [];
      const main: Call | undefined = next.toSorted((a, b) => sizes.get(b.id)! - sizes.get(a.id)!)[0];
      turns.push({
        call,
        number: numbers.get(call.id)!,
        branches: next.filter((each) => each !== main).map(threadFrom),
      });
      call = main;
    }
    return turns;
  }
  return (children.get(null) ?? []).map(threadFrom);
}
