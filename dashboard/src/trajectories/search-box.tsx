// The search field. The query is sent on submit, because the server reads every trajectory for it.
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
        aria-label="Search messages, tool calls, metadata and logs"
        placeholder="messages, metadata, logs"
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
