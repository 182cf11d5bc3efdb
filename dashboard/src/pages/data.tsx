// Artifacts: stored training data and adapters, one row per version, a page at a time. The server sorts them; the address says by what.
import { call, type Query } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { artifactHref } from '../data/artifact-name.ts';
import type { Artifact } from '../data/artifact-name.ts';
import { UploadForm } from '../data/upload-form.tsx';
import { hrefTo, type PageProps } from '../router.ts';
import { boundedTotal } from '../ui/counts.ts';
import { CursorPager, pagePlaceOf, type PagePlace } from '../ui/cursor-pager.tsx';
import { bytes, whole } from '../ui/numbers.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { askedOrder, sortNameOf, Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';

type Wanted = Query<'/v1/artifacts'>;

const LABEL = 'Artifacts';
const SORTED = sortNameOf(LABEL);
const PAGE_ROWS = 50;
const NEWEST_FIRST = { sort: 'created', order: 'desc' } as const;

export function DataPage({ query }: PageProps) {
  const said = query.get(SORTED);
  const order = (askedOrder(said, COLUMNS) ?? NEWEST_FIRST) as Pick<Wanted & object, 'sort' | 'order'>;
  const place = pagePlaceOf(query);
  const artifacts = useLoad((signal) => readPage(order, place, signal), [place.after], {
    version: `${order.sort} ${order.order}`, // the table stays, and with it the header that was clicked
  });
  return (
    <>
      <PageHead
        title="Data"
        about="Versions of artifacts: data for SFT and DPO jobs, and files that clients store here."
      />
      <Loaded of={artifacts}>
        {({ page, place: shown, order: { sort, order } }) =>
          page.counts.versions === 0 ? (
            <Empty title="No artifacts yet">
              Upload a file below, or store one with <code>whetstone artifacts push</code>.
            </Empty>
          ) : (
            <>
              <Table label={LABEL} rows={page.data} keyOf={({ id }) => id} columns={COLUMNS} isPart />
              <CursorPager
                place={shown}
                page={page}
                total={boundedTotal(page.counts)}
                of="versions"
                {...(sort === 'created' && order === 'desc' ? {} : { words: { first: 'First', next: 'Next' } })}
                hrefOf={(to) => hrefTo('/data', { ...(said === null ? {} : { [SORTED]: said }), ...to })}
              />
            </>
          )
        }
      </Loaded>
      <UploadForm />
    </>
  );
}

/** With its place and order, because the address may already name others. */
async function readPage(order: Pick<Wanted & object, 'sort' | 'order'>, place: PagePlace, signal: AbortSignal) {
  const query = { limit: PAGE_ROWS, ...order, ...(place.after === undefined ? {} : { after: place.after }) };
  return { order, place, page: await call('get', '/v1/artifacts', { query, signal }) };
}

const COLUMNS: readonly Column<Artifact>[] = [
  {
    title: 'Artifact',
    cell: (artifact) => (
      <a href={artifactHref(artifact)}>
        <Text>{`${artifact.name}:${artifact.version}`}</Text>
      </a>
    ),
    sortedAs: 'name',
    isWide: true,
  },
  { title: 'Project', cell: ({ project }) => <Text>{project}</Text>, sortedAs: 'project' },
  { title: 'Type', cell: ({ type }) => <Text>{type}</Text>, sortedAs: 'type' },
  { title: 'Aliases', cell: ({ aliases }) => <Text>{aliases.join(', ')}</Text> },
  { title: 'Files', align: 'right', cell: ({ files }) => whole(files.length), sortedAs: 'files' },
  { title: 'Size', align: 'right', cell: ({ size_bytes: size }) => bytes(size), sortedAs: 'size' },
  { title: 'Stored', cell: ({ created_at: at }) => <Ago at={at} />, sortedAs: 'created' },
];
