// The header of a message in the harmony format: role, recipient on either side of the channel, type of the content. What else stands before
// `<|message|>` is text. The format: github.com/openai/harmony, docs/format.md.

export const MESSAGE = '<|message|>';
/** Longer ones are none. */
export const HEADER_CHARACTERS_MAX = 300;

const ROLE = '<\\|start\\|>(?:assistant|user|system|developer|tool|[\\w-]+\\.[\\w.-]+)';
const RECIPIENT = '(?: ?\\bto=[^ <]+)';
const CHANNEL = '(?: ?<\\|channel\\|> ?[a-z]+)';
const CONTENT = '(?:<\\|constrain\\|> ?[a-z]+|json|code)';
/** Of text with single spaces. */
const HEADER = new RegExp(`^(?:${ROLE})?(?:${RECIPIENT}${CHANNEL}?|${CHANNEL}?${RECIPIENT}?) ?${CONTENT}? ?$`);

/** `text`: up to `<|message|>`. */
export const isHarmonyHeader = (text: string): boolean =>
  text.length <= HEADER_CHARACTERS_MAX && HEADER.test(text.replace(/\s+/g, ' '));
