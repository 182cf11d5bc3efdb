// Chooses which episodes are listed. A new choice begins at the newest ones again.
import { ModelFilter } from '../ui/model-filter.tsx';
import { chooseAmong as choose, hrefTo } from '../router.ts';
import { FieldFilter, OptionFilter } from '../ui/field-filter.tsx';
import { EPISODES_PATH, type EpisodeChoices } from './addresses.ts';
import { EPISODE_STATUSES } from './episode-status.tsx';

export function EpisodeFilters({ choices }: { choices: EpisodeChoices }) {
  const isFiltered = Object.values(choices).some((value) => value !== '');
  const field = (name: keyof EpisodeChoices) => ({
    value: choices[name],
    choose: (value: string) => choose({ [name]: value }),
  });
  return (
    <div class="filters" role="search" aria-label="Episodes">
      <ModelFilter label="Model" value={choices.model} choose={(model) => choose({ model: model?.id ?? null })} />
      <FieldFilter label="Group" {...field('group')} />
      <OptionFilter label="State" among={EPISODE_STATUSES} {...field('status')} />
      <FieldFilter label="Reward from" type="number" size={4} {...field('min')} />
      <FieldFilter label="to" type="number" size={4} {...field('max')} />
      <FieldFilter
        label="Text"
        type="search"
        size={22}
        placeholder="in messages, answers, names"
        {...field('search')}
      />
      {choices.job !== '' && (
        <span>
          used by <a href={hrefTo('/jobs/{id}', { id: choices.job })}>job {choices.job.slice(0, 8)}</a>{' '}
          <button class="link" type="button" onClick={() => choose({ job: null })}>
            ✕<span class="sr-only"> episodes of all jobs</span>
          </button>
        </span>
      )}
      {isFiltered && <a href={hrefTo(EPISODES_PATH)}>Show all</a>}
    </div>
  );
}
