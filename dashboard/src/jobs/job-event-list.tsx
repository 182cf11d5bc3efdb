// The events of a job as the server sent them, newest first, with all their data. There may be thousands of gradient steps, so only
// the visible rows are in the page.
import type { JobEvent } from '../api/events.ts';
import { rankOf } from '../charts/curves.ts';
import { Section } from '../ui/page-head.tsx';
import { measured, whole } from '../ui/numbers.ts';
import { Empty } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { VirtualList } from '../ui/virtual-list.tsx';
import type { KeptEvents } from './kept-events.ts';

export const JobEventList = ({ of: { events, total } }: { of: KeptEvents }) => (
  <Section title="Events" aside={total === events.length ? whole(total) : `${whole(events.length)} of ${whole(total)}`}>
    {events.length === 0 ? (
      <Empty title="No events yet" />
    ) : (
      <VirtualList
        label="Events"
        rows={events.toReversed()}
        rowHeight={ROW_PX}
        heightMax="420px"
        keyOf={({ id }) => id}
      >
        {({ type, data }) => (
          <details class="event">
            <summary>
              <b>{nameOf(type, data)}</b> <Text>{inShort(data)}</Text>
            </summary>
            <pre>
              <Text>{JSON.stringify(data, null, 2)}</Text>
            </pre>
          </details>
        )}
      </VirtualList>
    )}
  </Section>
);

const ROW_PX = 38;
const FIELDS_SHOWN = 3;

/** `gradient step 4` */
const nameOf = (type: JobEvent['type'], { gradient_step: step }: JobEvent['data']): string =>
  `${type.replaceAll('_', ' ')}${typeof step === 'number' ? ` ${whole(step)}` : ''}`;

function inShort({ gradient_step: _, ...data }: JobEvent['data']): string {
  const numbers = Object.entries(data).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return numbers
    .sort(([a], [b]) => rankOf(a) - rankOf(b))
    .slice(0, FIELDS_SHOWN)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${measured(value)}`)
    .join(' · ');
}
