// Metrics of which there is one value each: those that matter first and large, the rest folded, each with a sentence of what it is.
import { counted, measured } from '../ui/numbers.ts';
import { Text } from '../ui/text.tsx';
import { Tile, Tiles } from '../ui/tiles.tsx';
import type { Curve } from './curves.ts';
import { explainMetric } from './metric-words.ts';

const MATTER = [
  'reward',
  'reward_std_dev',
  'loss',
  'entropy',
  'kl_div',
  'grad_norm',
  'learning_rate',
  'rewards/accuracies',
  'rewards/margins',
  'val/loss',
  'val/reward',
];

interface MetricTilesProps {
  readonly curves: readonly Curve[];
  /** Where they were measured: `step 3`. */
  readonly place: string;
}

export function MetricTiles({ curves, place }: MetricTilesProps) {
  const isFirst = ({ metric }: Curve) => MATTER.includes(metric);
  const rest = curves.filter((curve) => !isFirst(curve));
  return (
    <>
      <p class="muted small">Of one {place.replace(/ \d+$/, '')}: curves appear with the second.</p>
      <Tiles>
        {curves.filter(isFirst).map((curve) => (
          <Tile key={curve.title} label={curve.title.replaceAll('_', ' ')} note={explainMetric(curve.metric)}>
            {measured(valueOf(curve))}
          </Tile>
        ))}
      </Tiles>
      {rest.length > 0 && (
        <details class="folded">
          <summary>{counted(rest.length, 'more metric')}</summary>
          <MetricValues curves={rest} />
        </details>
      )}
    </>
  );
}

export const MetricValues = ({ curves }: { curves: readonly Curve[] }) => (
  <dl class="metric-values panel">
    {curves.map((curve) => (
      <div key={curve.title}>
        <dt>
          <Text>{curve.title}</Text>
        </dt>
        <dd>{measured(valueOf(curve))}</dd>
        <dd class="muted">{explainMetric(curve.metric) ?? 'A metric of the client.'}</dd>
      </div>
    ))}
  </dl>
);

const valueOf = ({ constant, lines }: Curve): number | null =>
  constant ?? lines.at(-1)?.values.find((value) => value !== null) ?? null;
