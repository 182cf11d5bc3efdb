// Artifacts: stored training data and adapters, one row per version.
import { readList } from '../api/pages.ts';
import { useLoad } from '../api/use-load.ts';
import { artifactHref } from '../data/artifact-name.ts';
import type { Artifact } from '../data/artifact-name.ts';
import { UploadForm } from '../data/upload-form.tsx';
import { bytes } from '../ui/numbers.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';

export function DataPage() {
  const artifacts = useLoad((signal) => readList('/v1/artifacts', { signal }), []);
  return (
    <>
      <PageHead
        title="Data"
        about="Versions of artifacts: data for SFT and DPO jobs, and files that clients store here."
      />
      <Loaded of={artifacts}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No artifacts yet">
              Upload a file below, or store one with <code>whetstone artifacts push</code>.
            </Empty>
          ) : (
            <Table label="Artifacts" rows={rows.toReversed()} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Loaded>
      <UploadForm />
    </>
  );
}

const COLUMNS: readonly Column<Artifact>[] = [
  {
    title: 'Artifact',
    cell: (artifact) => (
      <a href={artifactHref(artifact)}>
        <Text>{`${artifact.name}:${artifact.version}`}</Text>
      </a>
    ),
    sortBy: ({ name, version }) => `${name}:${version}`,
    isWide: true,
  },
  { title: 'Project', cell: ({ project }) => <Text>{project}</Text>, sortBy: ({ project }) => project },
  { title: 'Type', cell: ({ type }) => <Text>{type}</Text>, sortBy: ({ type }) => type },
  { title: 'Aliases', cell: ({ aliases }) => <Text>{aliases.join(', ')}</Text> },
  { title: 'Files', align: 'right', cell: ({ files }) => files.length, sortBy: ({ files }) => files.length },
  {
    title: 'Size',
    align: 'right',
    cell: ({ size_bytes: size }) => bytes(size),
    sortBy: ({ size_bytes: size }) => size,
  },
  { title: 'Stored', cell: ({ created_at: at }) => <Ago at={at} />, sortBy: ({ created_at: at }) => at },
];
