// One message of a conversation: role, content, and tool calls with their arguments. All of it is untrusted text.
import { Text } from './text.tsx';
import type { ComponentChildren } from 'preact';

/** Fields of the wire format that are read; clients send more than these. */
export interface WireMessage {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly name?: unknown;
  readonly tool_calls?: unknown;
  readonly reasoning_content?: unknown;
}

interface MessageProps {
  readonly message: WireMessage;
  /** Shown next to the role. */
  readonly aside?: ComponentChildren;
  /** Replaces the content. */
  readonly children?: ComponentChildren;
}

export function Message({ message, aside, children }: MessageProps) {
  const role = typeof message.role === 'string' ? message.role : 'message';
  const known = ['system', 'user', 'assistant', 'tool', 'developer'].includes(role) ? role : 'other';
  return (
    <div class={`message from-${known}`}>
      <div class="message-head">
        <span class="role">
          <Text>{role}</Text>
          {typeof message.name === 'string' && (
            <>
              {' '}
              <Text>{message.name}</Text>
            </>
          )}
        </span>
        {aside && <span class="muted small">{aside}</span>}
      </div>
      {children ?? <Said message={message} />}
    </div>
  );
}

function Said({ message }: { message: WireMessage }) {
  const text = textOf(message.content);
  const thought = textOf(message.reasoning_content);
  const calls = callsOf(message.tool_calls);
  return (
    <>
      {thought !== '' && (
        <details class="thought">
          <summary>reasoning</summary>
          <Text block>{thought}</Text>
        </details>
      )}
      {text !== '' && <Text block>{text}</Text>}
      {calls.map(({ name, given }, at) => (
        <div key={at} class="tool-call">
          <div class="tool-name">
            <Text>{name}</Text>
          </div>
          <Text block>{indented(given)}</Text>
        </div>
      ))}
      {text === '' && thought === '' && calls.length === 0 && <p class="muted">(empty message)</p>}
    </>
  );
}

/** Joins parts as chat templates do; a part that is not text is replaced by its type. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as unknown[])
    .map((part) => {
      const { text, type } = (part ?? {}) as { text?: unknown; type?: unknown };
      return typeof text === 'string' ? text : `[${String(type)}]`;
    })
    .join('\n');
}

function callsOf(calls: unknown): { name: string; given: string }[] {
  if (!Array.isArray(calls)) return [];
  return (calls as unknown[]).map((call) => {
    const { name, arguments: given } = ((call as { function?: unknown } | null)?.function ?? {}) as Record<
      string,
      unknown
    >;
    return { name: typeof name === 'string' ? name : 'a tool', given: typeof given === 'string' ? given : '' };
  });
}

/** Returns arguments unchanged if they are not JSON or if indenting them would take long. */
function indented(json: string): string {
  if (json.length > 100_000) return json;
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
