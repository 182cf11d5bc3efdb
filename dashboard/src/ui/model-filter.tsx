// Finds one of any number of models by a part of its name: the server searches while the user types, and the browser offers what it found.
import { useId, useState } from 'preact/hooks';
import { call, type Query } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { ModelDetail } from '../api/wire.ts';
import { FieldFilter } from './field-filter.tsx';
import { Text } from './text.tsx';

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
  /** Where a name that no model has may become a model. */
  readonly create?: (project: string, name: string) => Promise<FoundModel>;
}

export function ModelFilter({ label, value, choose, create }: ModelFilterProps) {
  const list = useId();
  const [typed, setTyped] = useState('');
  const [round, setRound] = useState(0);
  const [problem, setProblem] = useState('');
  /** `project/name`, which no model has; '': none. */
  const [free, setFree] = useState('');
  const chosen = useLoad(() => (value === '' ? Promise.resolve('') : readName(value)), [value]);
  const offered = useLoad((signal) => findModels(typed, signal), [], { version: typed });
  const models = offered.state === 'ready' ? offered.value : [];
  const pick = async (text: string) => {
    const found = text === '' ? [] : await findModels(text);
    const exact = found.find(({ name }) => name === text) ?? (found.length === 1 ? found[0] : undefined);
    if (exact || text === '') choose(exact ?? null);
    setFree(create && !exact && NEW_NAME.test(text) ? text : '');
    setProblem(exact || text === '' ? '' : found.length === 0 ? nothingFound(create) : 'Several match: choose one.');
    if (exact) setRound(round + 1); // shows the chosen model, whatever was typed
  };
  const make = async () => {
    const [project = '', name = ''] = free.split('/');
    try {
      choose(await create!(project, name));
      setProblem('');
    } catch (refused) {
      setProblem(refused instanceof Error ? refused.message : String(refused));
    }
    setFree('');
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
      {problem !== '' && (
        <span class="small" role="alert">
          {problem}
        </span>
      )}
      {free !== '' && (
        <button type="button" onClick={() => void make()}>
          Create <Text>{free}</Text>
        </button>
      )}
    </>
  );
}

const NEW_NAME = /^[^/\s]+\/[^/\s]+$/;

const nothingFound = (create: ModelFilterProps['create']): string =>
  `No model has this in its name.${create ? ' A new one is named project/name.' : ''}`;

/** The model of this name first, then the last active ones whose names contain the text. */
async function findModels(search: string, signal?: AbortSignal): Promise<FoundModel[]> {
  const [project, name] = search.split('/', 2);
  const ask = async (query: Query<'/v1/preview/model-summaries'>) =>
    (await call('get', '/v1/preview/model-summaries', { query, signal })).data;
  const exact = project && name ? await ask({ limit: 1, project, name }) : [];
  const found = await ask({ limit: OFFERED, ...(search === '' ? {} : { search }) });
  const all = [...exact, ...found.filter(({ id }) => id !== exact[0]?.id)];
  return all.map((model) => ({ id: model.id, name: `${model.project}/${model.name}` }));
}

const seen = new Map<string, Promise<ModelDetail>>();

/** Asked once for each model: its names do not change. */
export function readModel(model_id: string): Promise<ModelDetail> {
  const known = seen.get(model_id);
  if (known) return known;
  const asked = call('get', '/v1/preview/models/{model_id}', { path: { model_id } });
  seen.set(model_id, asked);
  asked.catch(() => seen.delete(model_id));
  return asked;
}

/** `project/name` */
export async function readName(modelId: string): Promise<string> {
  const { project, name } = await readModel(modelId);
  return `${project}/${name}`;
}
