// Chooses what tokens are coloured by, and explains the colours.
import { SHADINGS, type Shading } from './tone.ts';

interface ShadingChoiceProps {
  readonly value: Shading;
  readonly choose: (shading: Shading) => void;
  /** Those for which there are numbers. */
  readonly among?: readonly Shading[];
}

export function ShadingChoice({
  value,
  choose,
  among = ['logprob', 'ratio', 'advantage', 'none'],
}: ShadingChoiceProps) {
  const scale = value === 'logprob' ? ['s1', 's2', 's3', 's4'] : ['dn4', 'dn3', 'dn2', 'dn1', 'd1', 'd2', 'd3', 'd4'];
  return (
    <div class="shading">
      <fieldset class="segments">
        <legend class="sr-only">Colour tokens by</legend>
        {SHADINGS.filter(({ id }) => among.includes(id)).map(({ id, label }) => (
          <label key={id} class={id === value ? 'chosen' : ''}>
            <input type="radio" name="shading" checked={id === value} onChange={() => choose(id)} />
            {label}
          </label>
        ))}
      </fieldset>
      {value !== 'none' && (
        <span class="legend muted small">
          <span class="scale" aria-hidden="true">
            {scale.map((tone) => (
              <span key={tone} class={`tone-${tone}`} />
            ))}
          </span>
          {SHADINGS.find(({ id }) => id === value)!.legend}
        </span>
      )}
    </div>
  );
}
