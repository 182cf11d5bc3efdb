// What is shown of a run in tables and heads: its link, its state, how long it took.
import type { Item } from '../api/client.ts';
import { hrefTo } from '../router.ts';
import { Text } from '../ui/text.tsx';
import { duration, useNow } from '../ui/time.tsx';
import { RUN_PATH } from './addresses.ts';
import { ranSeconds } from './run-values.ts';

export type Run = Item<'/v1/runs'>;

const runHref = ({ entity, project, run }: Run): string => hrefTo(RUN_PATH, { entity, project, run });

export const RunLink = ({ run }: { run: Run }) => (
  <a href={runHref(run)} title={run.run}>
    <Text>{run.name}</Text>
  </a>
);

/** The library reports at least every half minute; a process that was killed never reports its end. */
const SILENT_S = 600;

const SHOWN = {
  running: { mark: '◐', like: 'running' },
  finished: { mark: '●', like: 'succeeded' },
  failed: { mark: '✕', like: 'failed' },
} as const;

export function RunState({ run: { state, updated_at: at, exit_code: code } }: { run: Run }) {
  const silentS = (useNow(10_000) - Date.parse(at)) / 1000;
  const { mark, like } = SHOWN[state];
  return (
    <span class={`status ${like}`} title={code === null ? undefined : `exit code ${code}`}>
      <span aria-hidden="true">{mark}</span> {state}
      {state === 'running' && silentS > SILENT_S && (
        <span class="muted small"> silent for {duration(silentS).split(' ').slice(0, 2).join(' ')}</span>
      )}
    </span>
  );
}

export const RanFor = ({ run }: { run: Run }) => <>{duration(ranSeconds(run))}</>;
