// The fields that say which trajectories are shown.
import { FieldFilter, OptionFilter } from '../ui/field-filter.tsx';
import type { Filter, namesIn } from './filter.ts';
import type { Choose } from './step-choice.tsx';

interface RowFiltersProps {
  readonly filter: Filter;
  readonly names: ReturnType<typeof namesIn>;
  readonly choose: Choose;
}

export function RowFilters({ filter, names, choose }: RowFiltersProps) {
  const { reward, tokens, training, metric, ofMetric, meta, has } = filter;
  const withChosen = (among: readonly string[], chosen: string) =>
    chosen === '' || among.includes(chosen) ? among : [...among, chosen];
  const number = (label: string, name: string, value: number | null, size = 4) => (
    <FieldFilter
      {...{ label, size, type: 'number' as const }}
      value={value === null ? '' : String(value)}
      choose={(text) => choose({ [name]: text })}
    />
  );
  return (
    <div class="filters" role="group" aria-label="Filters">
      <span class="row nowrap">
        {number('Reward from', 'reward_min', reward.min)}
        {number('to', 'reward_max', reward.max)}
      </span>
      <span class="row nowrap">
        {number('Tokens from', 'tokens_min', tokens.min, 5)}
        {number('to', 'tokens_max', tokens.max, 5)}
      </span>
      {(names.training.length > 0 || training !== '') && (
        <OptionFilter
          label="Training"
          value={training}
          among={withChosen(names.training, training)}
          choose={(each) => choose({ training: each })}
        />
      )}
      {(names.metrics.length > 0 || metric !== '') && (
        <span class="row nowrap">
          <OptionFilter
            label="Metric"
            value={metric}
            among={withChosen(names.metrics, metric)}
            choose={(each) => choose({ metric: each, metric_min: null, metric_max: null })}
          />
          {metric !== '' && number('from', 'metric_min', ofMetric.min)}
          {metric !== '' && number('to', 'metric_max', ofMetric.max)}
        </span>
      )}
      {(names.metadata.length > 0 || meta !== '') && (
        <span class="row nowrap">
          <OptionFilter
            label="Metadata"
            value={meta}
            among={withChosen(names.metadata, meta)}
            choose={(each) => choose({ meta: each, has: null })}
          />
          {meta !== '' && (
            <FieldFilter label="contains" value={has} choose={(text) => choose({ has: text })} size={10} />
          )}
        </span>
      )}
    </div>
  );
}
