// One version of an artifact: its files, and rows of training data with their tokens as a job would train on them.
import { useState } from 'preact/hooks';
import { call, send } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { Artifact } from '../data/artifact-name.ts';
import { RowPreview } from '../data/row-preview.tsx';
import { TrainForm } from '../data/train-form.tsx';
import { changeQuery, goTo, type PageProps } from '../router.ts';
import { Confirm } from '../ui/confirm.tsx';
import { KeyValues } from '../ui/facts.tsx';
import { bytes } from '../ui/numbers.ts';
import { PageHead, Section } from '../ui/page-head.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Failure, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';

export function ArtifactPage({ params, query }: PageProps) {
  const name = { entity: params['entity']!, project: params['project']!, artifact: params['artifact']! };
  const found = useLoad(
    (signal) => call('get', '/v1/artifacts/{entity}/{project}/{artifact}', { path: name, signal }),
    [name.entity, name.project, name.artifact],
  );
  return (
    <>
      <PageHead
        title={<Text>{found.state === 'ready' ? `${found.value.name}:${found.value.version}` : name.artifact}</Text>}
        crumbs={<a href="#/data">Data</a>}
        about={found.state === 'ready' && <About of={found.value} />}
        actions={found.state === 'ready' && <Delete artifact={found.value} />}
      />
      <Loaded of={found}>
        {(artifact) => {
          const lines = artifact.files.filter(({ path }) => path.endsWith('.jsonl')).map(({ path }) => path);
          const path = lines.find((each) => each === query.get('path')) ?? lines[0];
          const choose = (next: string) => changeQuery({ path: next });
          return (
            <>
              <KeyValues values={artifact.metadata} />
              <Files artifact={artifact} name={name} />
              {path !== undefined && <TrainForm artifact={artifact} path={path} />}
              {path !== undefined && <RowPreview key={path} name={name} path={path} paths={lines} choose={choose} />}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

const About = ({ of: { type, project, aliases, size_bytes: size, created_at: at } }: { of: Artifact }) => (
  <>
    <Text>{type}</Text>
    <Text>{`project ${project}`}</Text>
    {aliases.length > 0 && <Text>{`also ${aliases.join(', ')}`}</Text>}
    <span>{bytes(size)}</span>
    <Ago at={at} />
  </>
);

function Delete({ artifact }: { artifact: Artifact }) {
  const { entity, project, name, version } = artifact;
  const remove = async (named: string) => {
    await call('delete', '/v1/artifacts/{entity}/{project}/{artifact}', { path: { entity, project, artifact: named } });
    goTo('#/data');
  };
  return (
    <>
      <Confirm
        action="Delete"
        question={
          <p>
            Version <Text>{`${name}:${version}`}</Text> and its files are deleted. This cannot be undone.
          </p>
        }
        onConfirm={() => remove(`${name}:${version}`)}
      />
      <Confirm
        action="Delete all versions"
        question={
          <p>
            Every version of <Text>{`${project}/${name}`}</Text> is deleted. This cannot be undone.
          </p>
        }
        onConfirm={() => remove(name)}
      />
    </>
  );
}

function Files({ artifact, name }: { artifact: Artifact; name: Readonly<Record<string, string>> }) {
  const [error, setError] = useState<unknown>(null);
  return (
    <Section title="Files">
      {error !== null && <Failure error={error} />}
      <Table
        label="Files"
        rows={artifact.files}
        keyOf={({ path }) => path}
        columns={[
          { title: 'Path', cell: ({ path }) => <Text>{path}</Text>, sortBy: ({ path }) => path, isWide: true },
          {
            title: 'Size',
            align: 'right',
            cell: ({ size_bytes: size }) => bytes(size),
            sortBy: ({ size_bytes: size }) => size,
          },
          { title: 'SHA-256', cell: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, 12)}</code> },
          {
            title: 'Download',
            cell: ({ path }) => (
              <button
                type="button"
                class="link"
                aria-label={`Download ${path}`}
                onClick={() => {
                  setError(null);
                  void download(name, path).catch(setError);
                }}
              >
                Download
              </button>
            ),
          },
        ]}
      />
    </Section>
  );
}

/** By script, because a link cannot send the key. */
async function download(name: Readonly<Record<string, string>>, path: string): Promise<void> {
  const answer = await send('get', '/v1/artifacts/{entity}/{project}/{artifact}/{path}', { path: { ...name, path } });
  saveFile(await answer.blob(), path.split('/').at(-1)!);
}
