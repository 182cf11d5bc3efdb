// Creates a model whose step 0 is a copy of a step of this one, with its optimizer state.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import type { Checkpoint, Model } from '../api/wire.ts';
import { goTo, hrefTo } from '../router.ts';
import { stepName } from '../ui/short-name.ts';
import { Failure } from '../ui/states.tsx';

export function ForkForm({ model, checkpoints }: { model: Model; checkpoints: readonly Checkpoint[] }) {
  const [name, setName] = useState('');
  const [step, setStep] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const from = step ?? checkpoints[0]?.step ?? 0;

  async function fork(event: SubmitEvent) {
    event.preventDefault();
    setError(null);
    const { project, base_model } = model;
    try {
      const body = { project, name, base_model, from_checkpoint: stepName(model, from) };
      const { id } = await call('post', '/v1/preview/models', { body });
      goTo(hrefTo('/models/{id}', { id }));
    } catch (refused) {
      setError(refused);
    }
  }

  return (
    <form class="row fork" onSubmit={(event) => void fork(event)}>
      <label>
        Fork step{' '}
        <select value={from} onChange={({ currentTarget }) => setStep(Number(currentTarget.value))}>
          {checkpoints.map((checkpoint) => (
            <option key={checkpoint.id} value={checkpoint.step}>
              {checkpoint.step}
            </option>
          ))}
        </select>
      </label>
      <label>
        as{' '}
        <input
          value={name}
          required
          placeholder="new name"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <button type="submit">Fork</button>
      {error !== null && <Failure error={error} />}
    </form>
  );
}
