// A row of training data, which is a conversation or a preference pair with its two answers side by side: its tokens, with the
// trained ones marked, or its messages; or why a job would refuse it.
import type { Item } from '../api/client.ts';
import { useMemo } from 'preact/hooks';
import { Message } from '../ui/message.tsx';
import { columnsOf } from '../tokens/token-columns.ts';
import { TokenText } from '../tokens/token-text.tsx';
import { bytes, counted, whole } from '../ui/numbers.ts';
import { Text } from '../ui/text.tsx';

export const ROWS = '/v1/preview/artifacts/{entity}/{project}/{artifact}/rows';
export type Row = Item<typeof ROWS>;

export function DatasetRow({ row, view }: { row: Row; view: 'tokens' | 'messages' }) {
  const { line, messages, problem, beginning, sequences } = row;
  return (
    <li class="dataset-row">
      <div class="message-head">
        <span class="mono">line {line}</span>
        <span>{aboutRow(row)}</span>
      </div>
      {problem !== null && <p class="problem">A job would refuse this line: {problem}</p>}
      {beginning !== null && <Text block>{beginning}</Text>}
      {row.chosen && row.rejected ? (
        <Pair row={row} answers={[row.chosen, row.rejected]} view={view} />
      ) : view === 'tokens' && sequences ? (
        sequences.map((sequence, at) => <Sequence key={at} label={`Line ${line}`} sequence={sequence} />)
      ) : (
        <Messages of={messages} />
      )}
      {view === 'tokens' && sequences?.length === 0 && <p class="muted">A job would train on none of its tokens.</p>}
    </li>
  );
}

type Messages = Row['messages'];
const Messages = ({ of }: { of: Messages }) => (
  <>
    {of?.map((message, at) => (
      <Message key={at} message={message} />
    ))}
  </>
);

interface PairProps {
  readonly row: Row;
  /** Chosen, rejected. */
  readonly answers: readonly [Messages, Messages];
  readonly view: 'tokens' | 'messages';
}

/** In the token view, each answer follows its prompt, as it is trained. */
function Pair({ row: { line, messages, sequences }, answers, view }: PairProps) {
  const showsTokens = view === 'tokens' && sequences?.length === 2;
  return (
    <>
      {!showsTokens && <Messages of={messages} />}
      <div class="pair">
        {(['chosen', 'rejected'] as const).map((which, at) => (
          <section key={which} class={which} aria-label={`Line ${line}, ${which}`}>
            <h3>{which}</h3>
            {showsTokens ? (
              <Sequence label={`Line ${line}, ${which}`} sequence={sequences[at]!} />
            ) : (
              <Messages of={answers[at]!} />
            )}
          </section>
        ))}
      </div>
    </>
  );
}

function aboutRow({ sequences, size_bytes: size, messages, chosen }: Row): string {
  if (!sequences) return messages ? `${bytes(size)}: too long to tokenize here` : bytes(size);
  const tokens = sequences.reduce((sum, { token_ids: ids }) => sum + ids.length, 0);
  const trained = sequences.reduce((sum, each) => sum + each.trained.filter((one) => one).length, 0);
  return `${whole(trained)} of ${counted(tokens, 'token')} ${chosen ? 'compared' : 'trained'}`;
}

function Sequence({ label, sequence }: { label: string; sequence: NonNullable<Row['sequences']>[number] }) {
  const columns = useMemo(
    () => columnsOf({ texts: sequence.texts, ids: sequence.token_ids, trained: sequence.trained }),
    [sequence],
  );
  return <TokenText label={label} columns={columns} shading="trained" />;
}
