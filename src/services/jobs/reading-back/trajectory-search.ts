// Whether a text occurs in a trajectory: in its messages and tool calls, or in the client's notes. Not case-sensitive. Every trajectory is
// read; an index would be larger than the data.
import type { Trajectory } from '#domain/trajectory';
import { textOf } from '../../chat/conversation-digest.ts';

/** Null and '' match every trajectory. */
export function createSearch(search: string | null): (trajectory: Trajectory) => boolean {
  if (search === null || search === '') return () => true;
  const needle = search.toLowerCase();
  return (trajectory) => {
    for (const text of textsOf(trajectory)) if (text.toLowerCase().includes(needle)) return true;
    return false;
  };
}

function* textsOf({ histories, notes = {} }: Trajectory): Generator<string> {
  for (const { message } of histories.flatMap(({ turns }) => turns)) {
    yield textOf(message.content);
    for (const { function: called } of message.tool_calls ?? []) {
      yield called.name;
      yield called.arguments;
    }
  }
  if (notes.metadata) yield JSON.stringify(notes.metadata);
  yield* notes.logs ?? [];
}
