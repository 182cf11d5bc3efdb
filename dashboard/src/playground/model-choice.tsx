// Chooses which model answers, or two side by side. Names can be typed, with suggestions: a server may have thousands.
interface ModelChoiceProps {
  readonly names: readonly string[];
  readonly model: string;
  readonly setModel: (name: string) => void;
  /** Null: only one model. */
  readonly other: string | null;
  readonly setOther: (name: string | null) => void;
}

export function ModelChoice({ names, model, setModel, other, setOther }: ModelChoiceProps) {
  return (
    <div class="model-choice">
      <NameInput label="Model" value={model} placeholder={names[0] ?? ''} change={setModel} />
      {other === null ? (
        <button type="button" onClick={() => setOther('')}>
          Compare with another
        </button>
      ) : (
        <>
          <NameInput label="Other model" value={other} placeholder={names[0] ?? ''} change={setOther} />
          <button type="button" onClick={() => setOther(null)}>
            Remove other model
          </button>
        </>
      )}
      <datalist id="model-names">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  );
}

interface NameInputProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly change: (name: string) => void;
}

const NameInput = ({ label, value, placeholder, change }: NameInputProps) => (
  <label>
    {label}
    <input
      list="model-names"
      spellcheck={false}
      autoComplete="off"
      value={value}
      placeholder={placeholder}
      onInput={({ currentTarget }) => change(currentTarget.value.trim())}
    />
  </label>
);
