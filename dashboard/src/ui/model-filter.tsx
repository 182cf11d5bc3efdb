// Finds one of any number of models by a part of its name: the server searches while the user types, and the browser offers what it found.
import { useId, useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { FieldFilter } from './field-filter.tsx';

const OFFERED = 20;

export interface FoundModel {
  readonly id: string;
  /** `project/name`. */
  readonly name: string;
}

interface ModelFilterProps {
  readonly label: string;
  /** Id of the chosen model; '': none. */
  readonly value: string;
  /** Null: the field was emptied. */
  readonly choose: (model: FoundModel | null) => void;
}

export function ModelFilter({ label, value, choose }: ModelFilterProps) {
  const list = useId();
  const [typed, setTyped] = useState('');
  const [round, setRound] = useState(0);
  const chosen = useLoad((signal) => (value === '' ? Promise.resolve('') : readName(value, signal)), [value]);
  const offered = useLoad((signal) => findModels(typed, signal), [], { version: typed });
  const models = offered.state === 'ready' ? offered.value : [];
  const pick = async (text: string) => {
    const known = models.find(({ name }) => name === text);
    const found = known ?? (text === '' ? null : (await findModels(text)).find(({ name }) => name.includes(text)));
    if (found !== undefined) choose(found);
    setRound(round + 1); // shows the chosen model again, whatever was typed
  };
  return (
    <>
      <FieldFilter
        key={`${value} ${round} ${chosen.state}`}
        label={label}
        value={chosen.state === 'ready' ? chosen.value : ''}
        choose={(text) => void pick(text)}
        type="search"
        size={18}
        placeholder="part of its name"
        list={list}
        onInput={({ currentTarget }) => setTyped(currentTarget.value.trim())}
      />
      <datalist id={list}>
        {models.map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
    </>
  );
}

async function findModels(search: string, signal?: AbortSignal): Promise<FoundModel[]> {
  const query = { limit: OFFERED, ...(search === '' ? {} : { search }) };
  const { data } = await call('get', '/v1/preview/model-summaries', { query, signal });
  return data.map(({ id, project, name }) => ({ id, name: `${project}/${name}` }));
}

const names = new Map<string, Promise<string>>();

/** `project/name`; asked once for each model. */
export function readName(model_id: string, signal?: AbortSignal): Promise<string> {
  const known = names.get(model_id);
  if (known) return known;
  const name = call('get', '/v1/preview/models/{model_id}', { path: { model_id } }).then(
    ({ project, name: own }) => `${project}/${own}`,
  );
  names.set(model_id, name);
  name.catch(() => names.delete(model_id));
  signal?.throwIfAborted();
  return name;
}
