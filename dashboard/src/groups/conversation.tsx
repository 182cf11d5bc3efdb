// The conversation of a trajectory: messages as they are; sampled turns as their tokens, if those are known.
import { useMemo } from 'preact/hooks';
import { alignTurns, trainedRuns } from '../tokens/align-turns.ts';
import { trainedColumns } from '../tokens/token-columns.ts';
import { TokenText } from '../tokens/token-text.tsx';
import type { Shading } from '../tokens/tone.ts';
import { counted } from '../ui/numbers.ts';
import type { TrainedSequence, Trajectory } from './group-data.ts';
import { Message } from '../ui/message.tsx';

type History = Trajectory['histories'][number];

interface ConversationProps {
  readonly histories: readonly History[];
  readonly sequences: readonly TrainedSequence[];
  readonly shading: Shading;
  /** Fold what precedes the first choice, because it is shown above all columns. */
  readonly foldsPrompt?: boolean;
}

export function Conversation({ histories, sequences, shading, foldsPrompt = false }: ConversationProps) {
  const columns = useMemo(() => sequences.map(trainedColumns), [sequences]);
  const turns = histories.flatMap((history, h) => history.turns.map((turn, t) => ({ turn, h, t })));
  const runs = useMemo(() => {
    const sampled = turns.flatMap(({ turn }) => (turn.sampled ? [turn.sampled.num_tokens] : []));
    return alignTurns(sampled, trainedRuns(sequences));
  }, [histories, sequences]);
  let nthSampled = 0;
  const drawn = turns.map(({ turn: { message, sampled }, h, t }) => {
    const run = sampled ? runs[nthSampled++] : null;
    return (
      <Message key={`${h}.${t}`} message={message} aside={asideOf(sampled, h, t)}>
        {run && shading !== 'none' ? (
          <TokenText
            label={`Turn ${t + 1}`}
            columns={columns[run.sequence]!}
            from={run.from}
            to={run.to}
            shading={shading}
          />
        ) : undefined}
      </Message>
    );
  });
  const first = turns.findIndex(({ turn }) => turn.sampled);
  const folded = foldsPrompt && first > 0 ? first : 0;
  return (
    <div class="conversation">
      {folded > 0 && (
        <details class="folded">
          <summary>{counted(folded, 'earlier message')}</summary>
          {drawn.slice(0, folded)}
        </details>
      )}
      {drawn.slice(folded)}
    </div>
  );
}

function asideOf(sampled: History['turns'][number]['sampled'], history: number, turn: number): string {
  const parts = sampled
    ? [sampled.num_tokens === null ? '' : counted(sampled.num_tokens, 'token'), `finish ${sampled.finish_reason}`]
    : [];
  if (history > 0 && turn === 0) parts.push(`additional history ${history}`);
  return parts.filter((part) => part !== '').join(' · ');
}
