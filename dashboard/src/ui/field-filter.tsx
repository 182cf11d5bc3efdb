// A field that filters what a page shows. It applies when the user has finished typing: Enter, or leaving the field. Until then the text is
// the browser's, so that a page that is drawn again takes nothing away.
import type { ComponentProps } from 'preact';
import { visibleText } from './text.tsx';

interface FieldFilterProps {
  readonly label: string;
  readonly value: string;
  readonly choose: (value: string) => void;
  readonly type?: 'text' | 'search' | 'number';
  /** Of the field, in characters. */
  readonly size?: number;
  readonly placeholder?: string;
  readonly list?: string;
  readonly onInput?: ComponentProps<'input'>['onInput'];
}

export const FieldFilter = ({ label, value, choose, type = 'text', size = 14, ...rest }: FieldFilterProps) => (
  <label class="field-filter">
    {label}{' '}
    <input
      key={value}
      {...rest}
      type={type}
      step={type === 'number' ? 'any' : undefined}
      defaultValue={value}
      maxLength={1000}
      autoComplete="off"
      style={{ width: `${size + 3}ch` }}
      onChange={({ currentTarget }) => choose(currentTarget.value.trim())}
    />
  </label>
);

interface OptionFilterProps {
  readonly label: string;
  readonly value: string;
  readonly among: readonly string[];
  readonly choose: (value: string) => void;
}

export const OptionFilter = ({ label, value, among, choose }: OptionFilterProps) => (
  <label class="field-filter">
    {label}{' '}
    <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      <option value="">all</option>
      {among.map((each) => (
        <option key={each} value={each}>
          {visibleText(each)}
        </option>
      ))}
    </select>
  </label>
);
