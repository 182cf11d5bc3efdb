// A trajectory as a line; when opened, its conversation appears below.
import { useLoad } from '../api/use-load.ts';
import { EpisodeLink } from '../episodes/episode-link.tsx';
import { Advantage } from '../groups/completion.tsx';
import { Conversation } from '../groups/conversation.tsx';
import { KeyValues } from '../ui/facts.tsx';
import { jobGroup, loggedGroup } from '../groups/group-data.ts';
import { SkipReason } from '../groups/skip-reason.tsx';
import { nameSkip } from '../groups/skip-reasons.ts';
import { measured, whole } from '../ui/numbers.ts';
import { Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import type { TrajectoryRow } from './rows.ts';

interface TrajectoryLineProps {
  readonly row: TrajectoryRow;
  readonly modelId: string;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

export function TrajectoryLine({ row, modelId, isOpen, toggle }: TrajectoryLineProps) {
  const { group, index, reward, advantage, prompt, answer, source, reason } = row;
  return (
    <div class={`line ${isOpen ? 'open' : ''}`}>
      <div class="line-cells">
        <button type="button" class="link mono" aria-expanded={isOpen} onClick={toggle}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
          <span class="sr-only">Trajectory </span>
          {group}.{index}
        </button>
        <span class="number">
          <span class="sr-only">reward </span>
          {measured(reward)}
        </span>
        <span class="number">
          {advantage === null ? <span class="muted">–</span> : <Advantage value={advantage} />}
        </span>
        <span class="number muted">{row.num_sampled_turns}</span>
        <span class="number muted">{whole(row.num_sampled_tokens)}</span>
        <span class="said" onClick={toggle}>
          <span class="muted">
            <Text>{oneLine(prompt)}</Text>
          </span>{' '}
          <Text>{oneLine(answer)}</Text>
          {reason && <span class="reason">{nameSkip(reason)}</span>}
        </span>
      </div>
      {isOpen && (
        <div class="line-open">
          <p>
            <a href={source.hrefOf(group)}>Group {group}</a> · <a href={source.hrefOf(group, index)}>its tokens</a>{' '}
            <EpisodeLink metadata={row.metadata} />
          </p>
          <KeyValues values={{ ...row.metrics, ...row.metadata }} />
          {reason && <SkipReason reason={reason} />}
          <Whole row={row} modelId={modelId} />
        </div>
      )}
    </div>
  );
}

function Whole({ row: { source, group, index }, modelId }: Pick<TrajectoryLineProps, 'row' | 'modelId'>) {
  const place =
    source.kind === 'job'
      ? jobGroup(source.id, group, source.hrefOf)
      : loggedGroup(modelId, source.id, group, source.hrefOf);
  const read = useLoad((signal) => place.loadTrajectory(index, signal), [place.key, index]);
  return (
    <Loaded of={read}>{({ histories }) => <Conversation histories={histories} sequences={[]} shading="none" />}</Loaded>
  );
}

const oneLine = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ');
