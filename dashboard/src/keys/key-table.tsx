// Keys of the team. A revoked key stays in the list, because usage refers to it.
import { call } from '../api/client.ts';
import type { ApiKey } from '../api/wire.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';
import { limitsInWords } from './limits.ts';

export function KeyTable({ keys, onChange }: { keys: readonly ApiKey[]; onChange: () => void }) {
  const revoke = async (id: string) => {
    await call('delete', '/v1/keys/{key_id}', { path: { key_id: id } });
    onChange();
  };
  const columns: readonly Column<ApiKey>[] = [
    { title: 'Name', cell: ({ name }) => <Text>{name}</Text>, isWide: true, sortBy: ({ name }) => name },
    { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
    { title: 'Limits', cell: ({ limits }) => limitsShown(limits) },
    {
      title: 'Created',
      align: 'right',
      cell: ({ created_at }) => <Ago at={created_at} />,
      sortBy: ({ created_at }) => created_at,
    },
    {
      title: 'Last used',
      align: 'right',
      cell: ({ last_used_at: used }) => (used === null ? <span class="muted">never</span> : <Ago at={used} />),
      sortBy: ({ last_used_at: used }) => used ?? '',
    },
    {
      title: 'State',
      cell: ({ id, name, revoked_at: revoked }) =>
        revoked === null ? (
          <Confirm
            action="Revoke"
            question={
              <p>
                The server refuses every further request with the key <Text>{name}</Text>. This cannot be undone.
              </p>
            }
            onConfirm={() => revoke(id)}
          />
        ) : (
          <span class="muted">revoked</span>
        ),
    },
  ];
  return <Table label="Keys" rows={keys} keyOf={({ id }) => id} columns={columns} />;
}

const limitsShown = (limits: ApiKey['limits']) => limitsInWords(limits) || <span class="muted">the team’s</span>;
