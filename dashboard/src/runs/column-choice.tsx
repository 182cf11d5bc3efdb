// Chooses the columns of the table of runs among the names that the runs have, in a list that opens.
import { useState } from 'preact/hooks';
import { Text } from '../ui/text.tsx';
import { COLUMNS_MAX, type ValueColumn } from './run-values.ts';

interface ColumnChoiceProps {
  readonly columns: readonly ValueColumn[];
  readonly shown: readonly string[];
  readonly onChange: (shown: readonly string[]) => void;
}

const OFFERED = 60;
const KINDS = ['config', 'summary'] as const;

export function ColumnChoice({ columns, shown, onChange }: ColumnChoiceProps) {
  const [search, setSearch] = useState('');
  const found = columns.filter(({ id }) => id.toLowerCase().includes(search.toLowerCase()));
  const flip = (id: string) => onChange(shown.includes(id) ? shown.filter((each) => each !== id) : [...shown, id]);
  return (
    <details class="column-choice">
      <summary>
        Columns ({shown.length} of {columns.length})
      </summary>
      <div class="panel">
        <label>
          Find{' '}
          <input
            type="search"
            value={search}
            maxLength={200}
            onInput={({ currentTarget }) => setSearch(currentTarget.value.trim())}
          />
        </label>
        {KINDS.map((of) => (
          <fieldset key={of}>
            <legend>{of}</legend>
            {found
              .filter((column) => column.of === of)
              .slice(0, OFFERED)
              .map(({ id, name }) => (
                <label key={id} class="check">
                  <input type="checkbox" checked={shown.includes(id)} onChange={() => flip(id)} /> <Text>{name}</Text>
                </label>
              ))}
          </fieldset>
        ))}
        {KINDS.some((of) => found.filter((each) => each.of === of).length > OFFERED) && (
          <p class="muted small">The first {OFFERED} of each kind are listed: find others by a part of their names.</p>
        )}
        {KINDS.some((of) => columns.filter((each) => each.of === of).length >= COLUMNS_MAX) && (
          <p class="muted small">
            At most {COLUMNS_MAX} names of each kind are columns; the page of a run has all of its names.
          </p>
        )}
      </div>
    </details>
  );
}
