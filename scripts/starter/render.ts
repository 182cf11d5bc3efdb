// Splits a conversation into the pieces of text that chat-template.jinja makes of it, each marked as context or as an answer to learn.
// Written in TypeScript because the corpus renders some hundred thousand conversations; test/engine/starter/corpus.test.ts compares it with the
// template.
import type { ChatMessage } from '#domain/chat';
import { spacedJson } from './world/json-objects.ts';
import type { Conversation } from './world/skill.ts';

export interface Piece {
  readonly text: string;
  /** frame: text that the template always writes; context: text of other roles; answer: the assistant's text, with its end. */
  readonly kind: 'frame' | 'context' | 'answer';
}

const frame = (text: string): Piece => ({ text, kind: 'frame' });
const context = (text: string): Piece => ({ text, kind: 'context' });

export function renderPieces({ messages, tools }: Conversation): Piece[] {
  const first = messages[0]!;
  const preface = first.role === 'system' ? (first.content as string) : null;
  const pieces: Piece[] = [];
  if (tools && tools.length > 0) {
    const lines = tools.map((tool) => `\n${spacedJson(tool)}`).join('');
    const text = `${preface === null ? '' : `${preface}\n\n`}# Tools\n<tools>${lines}\n</tools>`;
    pieces.push(frame('<|im_start|>system\n'), context(text), frame('<|im_end|>\n'));
  } else if (preface !== null) {
    pieces.push(frame('<|im_start|>system\n'), context(preface), frame('<|im_end|>\n'));
  }
  for (const message of messages) pieces.push(...renderTurn(message));
  return pieces;
}

/** No conversation of the corpus has consecutive tool results, so each is a turn of its own. */
function renderTurn(message: ChatMessage): Piece[] {
  const content = message.content as string;
  switch (message.role) {
    case 'user':
      return [frame('<|im_start|>user\n'), context(content), frame('<|im_end|>\n')];
    case 'tool':
      return [frame('<|im_start|>user\n<tool_response>\n'), context(content), frame('\n</tool_response><|im_end|>\n')];
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: given } }) => {
        return `<tool_call>\n{"name": "${name}", "arguments": ${spacedJson(JSON.parse(given))}}\n</tool_call>`;
      });
      const text = [...(content ? [content] : []), ...calls].join('\n');
      return [frame('<|im_start|>assistant\n'), { text: `${text}<|im_end|>`, kind: 'answer' }, frame('\n')];
    }
    default:
      return [];
  }
}
