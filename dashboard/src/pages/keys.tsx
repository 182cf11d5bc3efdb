// Keys and usage: keys for users who may manage them, usage for everyone who may read it.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { KeyTable } from '../keys/key-table.tsx';
import { NewKey } from '../keys/new-key.tsx';
import { UsageTable } from '../keys/usage-table.tsx';
import type { PageProps } from '../router.ts';
import { PageHead, Section } from '../ui/page-head.tsx';
import { Loaded } from '../ui/states.tsx';

export function Keys({ query }: PageProps) {
  const keys = useLoad((signal) => call('get', '/v1/keys', { signal }), []);
  return (
    <>
      <PageHead title="Keys and usage" />
      <Section title="Keys">
        <Loaded of={keys}>
          {({ data }) => (
            <>
              <KeyTable keys={data} onChange={keys.reload} />
              <NewKey onMade={keys.reload} />
            </>
          )}
        </Loaded>
      </Section>
      <UsageTable keys={keys.state === 'ready' ? keys.value.data : []} query={query} />
    </>
  );
}
