// One whole trajectory: its conversation, the client's metadata, and the token sequences that it became, including context.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLoad } from '../api/use-load.ts';
import { EpisodeLink } from '../episodes/episode-link.tsx';
import { trainedColumns } from '../tokens/token-columns.ts';
import { TokenText } from '../tokens/token-text.tsx';
import type { Shading } from '../tokens/tone.ts';
import { counted, measured } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { readBoth } from './completion.tsx';
import { Conversation } from './conversation.tsx';
import { Facts, KeyValues } from '../ui/facts.tsx';
import type { GroupPlace, TrainedSequence, Trajectory } from './group-data.ts';
import { SkipReason } from './skip-reason.tsx';

interface OneTrajectoryProps {
  readonly place: GroupPlace;
  readonly index: number;
  readonly colours: ComponentChildren;
  readonly shading: Shading;
}

export function OneTrajectory({ place, index, colours, shading }: OneTrajectoryProps) {
  const read = useLoad((signal) => readBoth(place, index, signal), [place.key, index]);
  return (
    <Loaded of={read}>
      {({ trajectory, tokens }) => (
        <>
          <div class="panel">
            <Facts facts={factsOf(trajectory)} />
            <EpisodeLink metadata={trajectory.metadata} />
            <KeyValues values={{ ...trajectory.metrics, ...trajectory.metadata }} />
          </div>
          {tokens?.reason && <SkipReason reason={tokens.reason} />}
          {colours}
          <Section title="Conversation">
            <Conversation histories={trajectory.histories} sequences={tokens?.sequences ?? []} shading={shading} />
          </Section>
          {tokens?.sequences.map((sequence, at) => (
            <Sequence key={at} number={at + 1} sequence={sequence} shading={shading} />
          ))}
          {trajectory.logs.length > 0 && (
            <Section title="Logs">
              <Text block>{trajectory.logs.join('\n')}</Text>
            </Section>
          )}
        </>
      )}
    </Loaded>
  );
}

function factsOf({ reward, advantage, ...trajectory }: Trajectory): (readonly [string, string])[] {
  const { start_time: start, initial_policy_version: first, final_policy_version: last } = trajectory;
  return [
    ['reward', measured(reward)],
    ...(advantage === null ? [] : [['advantage in the group', measured(advantage)] as const]),
    ...(start === null ? [] : [['started', start] as const]),
    ...(first === null
      ? []
      : [['sampled from step', last === null || last === first ? `${first}` : `${first} to ${last}`] as const]),
  ];
}

const UNKNOWN = {
  not_reached: 'The job ended before it reached this sequence.',
  not_told: 'The engine did not report what the trainer computed.',
} as const;

function Sequence({ number, sequence, shading }: { number: number; sequence: TrainedSequence; shading: Shading }) {
  const columns = useMemo(() => trainedColumns(sequence), [sequence]);
  const trained = sequence.trained.filter((one) => one).length;
  const { step, advantage, weight, trainer_unknown: unknown } = sequence;
  return (
    <Section
      title={`Sequence ${number}, as it was trained`}
      aside={`gradient step ${step}, advantage ${measured(advantage)}, weight ${measured(weight)}, ${trained} of ${counted(sequence.token_ids.length, 'token')} trained`}
    >
      {unknown && <p class="muted">{UNKNOWN[unknown]}</p>}
      <div class="panel">
        <TokenText label={`Sequence ${number}`} columns={columns} shading={shading} />
      </div>
    </Section>
  );
}
