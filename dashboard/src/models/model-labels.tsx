// What people write on a model: its tags and its note, edited in place; and the buttons that archive and delete it. Knows nothing of its
// curves and checkpoints.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import type { ModelDetail } from '../api/wire.ts';
import { goTo, hrefTo } from '../router.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Failure } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';
import './models.css';

interface Change {
  readonly tags?: readonly string[];
  readonly note?: string;
  readonly archived?: boolean;
}

interface LabelsProps {
  readonly model: ModelDetail;
  readonly onChange: () => void;
}

const putLabels = (model: ModelDetail, body: Change) =>
  call('put', '/v1/preview/models/{model_id}/labels', { path: { model_id: model.id }, body });

export function ModelLabels({ model, onChange }: LabelsProps) {
  const [isEditing, setEditing] = useState(false);
  return (
    <div class="row labels">
      {model.archived_at && (
        <span class="muted">
          archived <Ago at={model.archived_at} />
        </span>
      )}
      <TagList tags={model.tags} />
      {model.note && !isEditing && <Text block>{model.note}</Text>}
      {isEditing ? (
        <LabelsForm model={model} onChange={onChange} close={() => setEditing(false)} />
      ) : (
        <button class="link" type="button" onClick={() => setEditing(true)}>
          {model.tags.length > 0 || model.note ? 'Edit tags and note' : 'Add tags or a note'}
        </button>
      )}
    </div>
  );
}

/** Each leads to the models with that tag. */
export const TagList = ({ tags }: { tags: readonly string[] }) => (
  <>
    {tags.map((tag) => (
      <a key={tag} class="tag" href={hrefTo('/', { tag })} title={`Models with the tag ${tag}`}>
        <Text>{tag}</Text>
      </a>
    ))}
  </>
);

function LabelsForm({ model, onChange, close }: LabelsProps & { readonly close: () => void }) {
  const [tags, setTags] = useState(model.tags.join(' '));
  const [note, setNote] = useState(model.note ?? '');
  const [error, setError] = useState<unknown>(null);

  async function save(event: SubmitEvent) {
    event.preventDefault();
    try {
      await putLabels(model, { tags: tags.split(/[\s,]+/).filter((tag) => tag !== ''), note: note.trim() });
      onChange();
      close();
    } catch (refused) {
      setError(refused);
    }
  }

  return (
    <form class="labels-form" onSubmit={(event) => void save(event)}>
      <label>
        Tags, with spaces between
        <input value={tags} autoComplete="off" onInput={({ currentTarget }) => setTags(currentTarget.value)} />
      </label>
      <label>
        Note
        <textarea
          rows={3}
          value={note}
          maxLength={4000}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </label>
      <div class="row">
        <button type="submit">Save</button>
        <button type="button" onClick={close}>
          Go back
        </button>
      </div>
      {error !== null && <Failure error={error} />}
    </form>
  );
}

export function ModelActions({ model, onChange }: LabelsProps) {
  const name = `${model.project}/${model.name}`;
  const archived = model.archived_at === null;
  const archive = () => putLabels(model, { archived }).then(onChange);
  const remove = async () => {
    await call('delete', '/v1/preview/models/{model_id}', { path: { model_id: model.id } });
    goTo(hrefTo('/'));
  };
  return (
    <>
      <Confirm
        action={archived ? 'Archive' : 'Bring back'}
        question={
          archived ? (
            <p>
              Lists will leave out <Text>{name}</Text>. It still answers, and can be trained, by its name.
            </p>
          ) : (
            <p>
              Lists will show <Text>{name}</Text> again.
            </p>
          )
        }
        onConfirm={archive}
      />
      <Confirm
        action="Delete model"
        question={
          <p>
            <Text>{name}</Text> is deleted for good, with all its checkpoints, jobs, trajectories and episodes.
          </p>
        }
        onConfirm={remove}
      />
    </>
  );
}
