// Words to look for: sent when they are finished, because the server reads everything for them.
import { useState } from 'preact/hooks';

interface SearchBoxProps {
  readonly value: string;
  readonly search: (text: string) => void;
}

export function SearchBox({ value, search }: SearchBoxProps) {
  const [text, setText] = useState(value);
  return (
    <form
      class="row"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        search(text.trim());
      }}
    >
      <input
        type="search"
        aria-label="Look for a text in messages, calls, metadata and logs"
        placeholder="Search in messages, metadata, logs"
        maxLength={1000}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit">Search</button>
      {value !== '' && (
        <button
          type="button"
          class="link"
          onClick={() => {
            setText('');
            search('');
          }}
        >
          Show all
        </button>
      )}
    </form>
  );
}
