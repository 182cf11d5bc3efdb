// Short lists of names and values.
import { measured } from './numbers.ts';
import { Text } from './text.tsx';

export const Facts = ({ facts }: { facts: readonly (readonly [string, string])[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** Metadata or metrics that a client sent, unchanged. Draws nothing if there are none. */
export function KeyValues({ values }: { values: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return (
    <ul class="key-values">
      {entries.map(([name, value]) => (
        <li key={name}>
          <span class="muted">
            <Text>{name}</Text>
          </span>{' '}
          <Text>{inWords(value)}</Text>
        </li>
      ))}
    </ul>
  );
}

function inWords(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? measured(value) : JSON.stringify(value);
}
