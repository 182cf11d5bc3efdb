// Controls for how curves are shown and which other models are drawn with them.
import { ModelFilter, type FoundModel } from '../ui/model-filter.tsx';
import { Text } from '../ui/text.tsx';

export interface CurveChoice {
  readonly others: readonly FoundModel[];
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

export function CurveControls({ modelId, choice, onChange }: CurveControlsProps) {
  const taken = new Set([modelId, ...choice.others.map(({ id }) => id)]);
  const add = (model: FoundModel | null) => {
    if (model && !taken.has(model.id)) onChange({ ...choice, others: [...choice.others, model] });
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
      <ModelFilter label="Compare with" value="" choose={add} />
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
