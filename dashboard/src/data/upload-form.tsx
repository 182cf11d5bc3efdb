// Uploads files as a version of an artifact: each file on its own, then the list of them, so that a version is whole or does not exist.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { goTo } from '../router.ts';
import { bytes } from '../ui/numbers.ts';
import { Failure } from '../ui/states.tsx';
import { artifactHref, artifactNameOf } from './artifact-name.ts';

const ARTIFACT = '/v1/artifacts/{entity}/{project}/{artifact}';
/** As the server allows names. */
const NAME = '[A-Za-z0-9][A-Za-z0-9._\\-]{0,127}';
const NAME_WORDS = 'Letters, digits, dots, dashes and underscores';

export function UploadForm() {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [project, setProject] = useState('');
  const [name, setName] = useState('');
  const [type, setType] = useState('dataset');
  const [sending, setSending] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);

  function pick(picked: readonly File[]) {
    setFiles(picked);
    if (name === '' && picked[0]) setName(artifactNameOf(picked[0].name));
  }

  async function upload(event: SubmitEvent) {
    event.preventDefault();
    setError(null);
    try {
      const path = { entity: '~', project, artifact: `${name}:draft` };
      const stored: { path: string; sha256: string }[] = [];
      for (const file of files) {
        setSending(`${file.name}, ${bytes(file.size)}`);
        const answer = await call('put', `${ARTIFACT}/{path}`, { path: { ...path, path: file.name }, content: file });
        const { sha256 } = answer as { sha256: string };
        stored.push({ path: file.name, sha256 });
      }
      const body = { type, files: stored };
      const made = await call('put', ARTIFACT, { path: { ...path, artifact: name }, body });
      if ('missing' in made) throw new Error('The server lost a file before the upload was complete. Upload again.');
      goTo(artifactHref(made));
    } catch (refused) {
      setError(refused);
    }
    setSending(null);
  }

  return (
    <form class="panel upload" onSubmit={(event) => void upload(event)}>
      <h2>Upload</h2>
      <div class="row">
        <label>
          Files{' '}
          <input
            type="file"
            multiple
            required
            onChange={({ currentTarget }) => pick([...(currentTarget.files ?? [])])}
          />
        </label>
        <NameField label="Project" value={project} size={12} choose={setProject} />
        <NameField label="Name" value={name} size={18} choose={setName} />
        <NameField label="Type" value={type} size={10} choose={setType} />
        <button class="primary" type="submit" disabled={sending !== null}>
          Upload
        </button>
      </div>
      <p class="muted small">
        A name that exists gets its next version. Jobs train on JSON Lines: a conversation or a preference pair per
        line.
      </p>
      {sending !== null && <p role="status">Uploading {sending} …</p>}
      {error !== null && <Failure error={error} />}
    </form>
  );
}

interface NameFieldProps {
  readonly label: string;
  readonly value: string;
  readonly size: number;
  readonly choose: (text: string) => void;
}

function NameField({ label, value, size, choose }: NameFieldProps) {
  return (
    <label>
      {label}{' '}
      <input
        {...{ value, size }}
        required
        pattern={NAME}
        title={NAME_WORDS}
        onInput={({ currentTarget }) => choose(currentTarget.value)}
      />
    </label>
  );
}
