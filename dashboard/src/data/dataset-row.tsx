// A row of training data: its tokens, of which those are marked that are learnt, or its messages; or why a job would refuse it.
import type { Item } from '../api/client.ts';
import { useMemo } from 'preact/hooks';
import { Message } from '../groups/message.tsx';
import { columnsOf } from '../tokens/token-columns.ts';
import { TokenText } from '../tokens/token-text.tsx';
import { bytes, whole } from '../ui/numbers.ts';
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
      {view === 'tokens' && sequences
        ? sequences.map((sequence, at) => <Sequence key={at} line={line} sequence={sequence} />)
        : messages?.map((message, at) => <Message key={at} message={message} />)}
      {view === 'tokens' && sequences?.length === 0 && <p class="muted">Nothing of it would be trained.</p>}
    </li>
  );
}

function aboutRow({ sequences, size_bytes: size, messages }: Row): string {
  if (!sequences) return messages ? `${bytes(size)}: too long to be encoded here` : bytes(size);
  const tokens = sequences.reduce((sum, { token_ids: ids }) => sum + ids.length, 0);
  const trained = sequences.reduce((sum, each) => sum + each.trained.filter((one) => one).length, 0);
  return `${whole(trained)} of ${whole(tokens)} tokens trained`;
}

function Sequence({ line, sequence }: { line: number; sequence: NonNullable<Row['sequences']>[number] }) {
  const columns = useMemo(
    () => columnsOf({ texts: sequence.texts, ids: sequence.token_ids, trained: sequence.trained }),
    [sequence],
  );
  return <TokenText label={`Line ${line}`} columns={columns} shading="trained" />;
}
