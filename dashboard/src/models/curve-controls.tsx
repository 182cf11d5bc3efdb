// Controls for how curves are shown and which other models are drawn with them.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { Text, visibleText } from '../ui/text.tsx';

export interface CurveChoice {
  readonly others: readonly { readonly id: string; readonly name: string }[];
  /** Weight of past values, at least 0 and below 1. */
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly showsAll: boolean;
}

interface CurveControlsProps {
  readonly modelId: string;
  readonly choice: CurveChoice;
  readonly onChange: (choice: CurveChoice) => void;
}

const OFFERED_MAX = 100;

export function CurveControls({ modelId, choice, onChange }: CurveControlsProps) {
  const models = useLoad(
    (signal) => call('get', '/v1/preview/model-summaries', { query: { limit: OFFERED_MAX }, signal }),
    [modelId],
  );
  const known = models.state === 'ready' ? models.value.data : [];
  const taken = new Set([modelId, ...choice.others.map(({ id }) => id)]);
  const offered = known.filter(({ id }) => !taken.has(id));
  const add = (id: string) => {
    const model = known.find((each) => each.id === id);
    if (model) onChange({ ...choice, others: [...choice.others, { id, name: `${model.project}/${model.name}` }] });
  };
  return (
    <>
      {choice.others.map(({ id, name }) => (
        <button
          key={id}
          class="link"
          type="button"
          onClick={() => onChange({ ...choice, others: choice.others.filter((other) => other.id !== id) })}
        >
          <Text>{name}</Text> ✕<span class="sr-only"> remove</span>
        </button>
      ))}
      {offered.length > 0 && (
        <select
          aria-label="Compare with another model"
          value=""
          onChange={({ currentTarget }) => add(currentTarget.value)}
        >
          <option value="">Compare with …</option>
          {offered.map(({ id, project, name }) => (
            <option key={id} value={id}>
              {visibleText(`${project}/${name}`)}
            </option>
          ))}
        </select>
      )}
      <label class="check">
        Smoothing{' '}
        <input
          type="range"
          min="0"
          max="0.95"
          step="0.05"
          value={choice.smoothing}
          onInput={({ currentTarget }) => onChange({ ...choice, smoothing: Number(currentTarget.value) })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={choice.isLogarithmic}
          onChange={() => onChange({ ...choice, isLogarithmic: !choice.isLogarithmic })}
        />{' '}
        Log scale
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={choice.showsAll}
          onChange={() => onChange({ ...choice, showsAll: !choice.showsAll })}
        />{' '}
        All metrics
      </label>
    </>
  );
}
