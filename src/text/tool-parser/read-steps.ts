// The loop that parsers of calls share: they read the text in steps until nothing more can be done with what has arrived.
import type { ToolDelta, ToolParser } from './tool-delta.ts';

export interface Steps {
  readonly add: (text: string) => void;
  /** Null: nothing more can be done with the text so far. `over`: nothing follows. */
  readonly step: (over: boolean) => ToolDelta[] | null;
  /** After the last step. */
  readonly end: (isStopped: boolean) => ToolDelta[];
}

export function readSteps({ add, step, end }: Steps): ToolParser {
  function readAll(over: boolean): ToolDelta[] {
    const deltas: ToolDelta[] = [];
    for (let more = step(over); more !== null; more = step(over)) deltas.push(...more);
    return deltas;
  }

  return {
    push(text) {
      add(text);
      return readAll(false);
    },
    flush: (isStopped = false) => [...readAll(true), ...end(isStopped)],
  };
}
