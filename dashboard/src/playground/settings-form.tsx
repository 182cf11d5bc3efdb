// The form with every setting of a request. Empty fields are not sent.
import { Text } from '../ui/text.tsx';
import { FIELD_GROUPS, type Field, type Settings } from './fields.ts';

interface SettingsFormProps {
  readonly settings: Settings;
  readonly problems: Readonly<Record<string, string>>;
  readonly change: (name: string, typed: string) => void;
}

export function SettingsForm({ settings, problems, change }: SettingsFormProps) {
  return (
    <div class="settings">
      <label class="field">
        system prompt
        <textarea
          rows={2}
          value={settings['system'] ?? ''}
          onInput={({ currentTarget }) => change('system', currentTarget.value)}
        />
      </label>
      {FIELD_GROUPS.map(({ title, isOpen, fields }) => (
        <details key={title} open={isOpen || fields.some(({ name }) => problems[name] !== undefined)}>
          <summary>
            {title}
            <Count of={fields.filter(({ name }) => (settings[name] ?? '') !== '').length} />
          </summary>
          <div class="fields">
            {fields.map((field) => (
              <FieldInput
                key={field.name}
                field={field}
                typed={settings[field.name] ?? ''}
                problem={problems[field.name]}
                change={(typed) => change(field.name, typed)}
              />
            ))}
          </div>
        </details>
      ))}
    </div>
  );
}

const Count = ({ of }: { of: number }) => (of === 0 ? null : <span class="muted"> {of} set</span>);

interface FieldInputProps {
  readonly field: Field;
  readonly typed: string;
  readonly problem: string | undefined;
  readonly change: (typed: string) => void;
}

function FieldInput({ field: { name, kind, hint, options }, typed, problem, change }: FieldInputProps) {
  const id = `field-${name}`;
  const about = { id, 'aria-describedby': `${id}-hint`, 'aria-invalid': problem !== undefined };
  const isLong = kind === 'lines' || kind === 'json';
  const choices = kind === 'switch' ? ['true', 'false'] : options;
  return (
    <div class={`field ${isLong ? 'long' : ''}`}>
      <label for={id}>{name}</label>
      {choices ? (
        <select {...about} value={typed} onChange={({ currentTarget }) => change(currentTarget.value)}>
          <option value="">default</option>
          {choices.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      ) : isLong ? (
        <textarea
          {...about}
          rows={2}
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      ) : (
        <input
          {...about}
          inputMode="decimal"
          placeholder="default"
          value={typed}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
      <span id={`${id}-hint`} class={`hint ${problem === undefined ? 'muted' : 'problem'}`}>
        {problem === undefined ? hint : <Text>{problem}</Text>}
      </span>
    </div>
  );
}
