// Shows the text of clients and models character by character. Preact escapes it; characters that change how neighbouring text reads
// (direction marks, control characters, lone surrogates) are shown by their code, so that they cannot affect what surrounds the text.
import { useState } from 'preact/hooks';
import { counted } from './numbers.ts';

/** A browser lays out this many characters without a pause; the rest is shown on request. */
const CHARACTERS_SHOWN = 20_000;

const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const BETWEEN = new RegExp(`(${INVISIBLE.source})`);

/** Runs of text, and codes such as `U+202E` for characters that would be invisible. */
export function visibleParts(text: string): readonly { readonly text: string; readonly isMark: boolean }[] {
  if (!INVISIBLE.test(text)) return text === '' ? [] : [{ text, isMark: false }]; // most of thousands of tokens
  return text
    .split(BETWEEN)
    .map((part, at) => ({ text: at % 2 === 1 ? codeOf(part) : part, isMark: at % 2 === 1 }))
    .filter((part) => part.text !== '');
}

/** For places that hold only text, such as options. */
export const visibleText = (text: string): string =>
  visibleParts(text)
    .map((part) => part.text)
    .join('');

const codeOf = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

interface TextProps {
  readonly children: string;
  /** Keeps line breaks, in a block of its own. */
  readonly block?: boolean;
}

export function Text({ children, block = false }: TextProps) {
  const [shown, setShown] = useState(CHARACTERS_SHOWN);
  const left = children.length - shown;
  const parts = visibleParts(left > 0 ? children.slice(0, shown) : children);
  const runs = parts.map(({ text, isMark }) => (isMark ? <span class="mark">{text}</span> : text));
  const Tag = block ? 'div' : 'bdi';
  return (
    <Tag class={block ? 'text-block' : 'text'} dir="auto">
      {runs}
      {left > 0 && (
        <button class="link" type="button" onClick={() => setShown(shown + 10 * CHARACTERS_SHOWN)}>
          … {counted(left, 'more character')}
        </button>
      )}
    </Tag>
  );
}
