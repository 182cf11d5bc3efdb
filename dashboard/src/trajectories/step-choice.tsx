// Chooses the split, the step, and whether to show single trajectories or prompts.
import { visibleText } from '../ui/text.tsx';
import { TRAINED } from './sources.ts';

export type Choose = (changed: Readonly<Record<string, string | number | null>>) => void;

interface StepChoiceProps {
  readonly splits: readonly string[];
  readonly split: string;
  readonly steps: readonly number[];
  readonly step: number;
  readonly view: 'trajectories' | 'prompts';
  readonly choose: Choose;
}

export function StepChoice({ splits, split, steps, step, view, choose }: StepChoiceProps) {
  const at = steps.indexOf(step);
  const goTo = (next: number) => choose({ step: steps[next]! });
  return (
    <div class="step-choice">
      <label>
        Split{' '}
        <select value={split} onChange={({ currentTarget }) => choose({ split: currentTarget.value })}>
          {splits.map((each) => (
            <option key={each} value={each}>
              {visibleText(each)}
            </option>
          ))}
        </select>
      </label>
      <div class="slider">
        <label for="step">Step</label>
        <button type="button" aria-label="Step before" disabled={at === 0} onClick={() => goTo(at - 1)}>
          ‹
        </button>
        <input
          id="step"
          type="range"
          min={0}
          max={Math.max(1, steps.length - 1)}
          step={1}
          value={at}
          disabled={steps.length === 1}
          aria-valuetext={`step ${step}`}
          onInput={({ currentTarget }) => goTo(Math.min(steps.length - 1, Number(currentTarget.value)))}
        />
        <button type="button" aria-label="Step after" disabled={at === steps.length - 1} onClick={() => goTo(at + 1)}>
          ›
        </button>
        <output for="step">
          {step} <span class="muted">of {steps.at(-1)}</span>
        </output>
      </div>
      <fieldset class="segments">
        <legend class="sr-only">Show</legend>
        {(['trajectories', 'prompts'] as const).map((each) => (
          <label key={each} class={each === view ? 'chosen' : ''}>
            <input type="radio" name="view" checked={each === view} onChange={() => choose({ view: each })} />
            {each}
          </label>
        ))}
      </fieldset>
      <span class="muted small">
        {split === TRAINED
          ? `Training data of the job that made step ${step}, usually sampled from step ${step - 1}.`
          : `Logged while step ${step} was the latest step.`}
      </span>
    </div>
  );
}
