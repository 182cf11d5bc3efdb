// What a chat template leaves out of conversations without a word: tools and calls that it does not know, messages of roles that it does
// not know, system messages after the first message, and what is said beside a call. Asked of the template itself: of parts that look the
// same in all rows once, with a conversation that has the part, and of the others with the row.
import { counted } from '#base/counted';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { PreferencePair } from '#domain/dpo';
import { AppError } from '#domain/errors';
import type { SftRow } from '#domain/sft';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { conversationsOf, renderedWith } from './row-renderings.ts';

/** `tools`, `tool_calls`, or a role. */
interface Part {
  readonly of: 'field' | 'role';
  readonly name: string;
}

const WORD = 'zqxprobe';
const ID = 'abcdefghi'; // as Mistral's templates want it
const said = (role: string, content: string): ChatMessage => ({ role, content });
const calling = (name: string): ChatMessage => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ id: ID, type: 'function', function: { name, arguments: '{}' } }],
});
const [question, answer] = [said('user', 'Hello.'), said('assistant', 'Hello.')];
const tool: ToolDefinition = {
  type: 'function',
  function: { name: WORD, parameters: { type: 'object', properties: {} } },
};

/** Conversations that have the word in the part and nowhere else. */
function conversationWith({ of, name }: Part): readonly ChatMessage[] {
  if (of === 'field')
    return name === 'tools' ? [question, answer] : [question, calling(WORD), result('tool', ''), answer];
  if (name === 'system' || name === 'developer') return [said(name, WORD), question, answer];
  if (name === 'tool' || name === 'function') return [question, calling('f'), result(name, WORD), answer];
  return [question, answer, said(name, WORD), answer];
}

const result = (role: string, content: string): ChatMessage => ({ role, content, name: 'f', tool_call_id: ID });

/** A template that refuses the part does not leave it out: it refuses the rows, too. */
function leavesOut(part: Part, { renderClosed }: Pick<ConversationEncoder, 'renderClosed'>): boolean {
  const tools = part.of === 'field' && part.name === 'tools' ? [tool] : null;
  try {
    return !renderClosed(conversationWith(part), { tools }).includes(WORD);
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** Data may have another role in each row. */
const ROLES_MAX = 20;
/** A part that the template has written so often is not left out elsewhere. */
const WRITTEN_MAX = 200;

export function createLeftOut(encoder: Pick<ConversationEncoder, 'renderClosed'>) {
  const asked = new Map<string, { readonly isLeftOut: boolean; rows: number }>();
  const silenced = new Map<string, number>();
  const written = new Map<string, number>();
  return {
    note(row: SftRow | PreferencePair): void {
      for (const name of silencedIn(row, written, encoder)) silenced.set(name, (silenced.get(name) ?? 0) + 1);
      for (const [name, part] of partsOf(row)) {
        if (!asked.has(name) && asked.size < ROLES_MAX)
          asked.set(name, { isLeftOut: leavesOut(part, encoder), rows: 0 });
        const known = asked.get(name);
        if (known) known.rows++;
      }
    },
    warnings(): string[] {
      const parts = [...asked]
        .filter(([, { isLeftOut }]) => isLeftOut)
        .map(([name, { rows }]) => [name, rows] as const);
      const named = [...parts, ...silenced].map(([name, rows]) => `${name} (${counted(rows, 'row')})`);
      return named.length === 0
        ? []
        : [`The chat template leaves out parts of the training data: ${named.join(', ')}.`];
    },
  };
}

function partsOf(row: SftRow | PreferencePair): Map<string, Part> {
  const parts = new Map<string, Part>();
  if (!('tools' in row)) return parts;
  if (row.tools) parts.set('tools', { of: 'field', name: 'tools' });
  for (const { role, tool_calls: calls } of conversationsOf(row).flat()) {
    if (calls) parts.set('tool_calls', { of: 'field', name: 'tool_calls' });
    if (role !== 'user' && role !== 'assistant') parts.set(`messages of the role ${role}`, { of: 'role', name: role });
  }
  return parts;
}

/** Names of parts of the row whose text the template does not write where they stand. `written`: how often it wrote each. */
function silencedIn(
  row: SftRow | PreferencePair,
  written: Map<string, number>,
  encoder: Pick<ConversationEncoder, 'renderClosed'>,
): Set<string> {
  const found = new Set<string>();
  for (const messages of conversationsOf(row))
    for (const [place, message] of messages.entries()) {
      const name = oftenSilenced(message, place);
      if (name === null || found.has(name) || (written.get(name) ?? 0) >= WRITTEN_MAX) continue;
      const texts = renderedWith(row, messages, place, { ...message, content: WORD }, encoder);
      if (texts.some((text) => text.includes(WORD))) written.set(name, (written.get(name) ?? 0) + 1);
      else if (texts.length > 0) found.add(name);
    }
  return found;
}

function oftenSilenced({ role, content, tool_calls: calls }: ChatMessage, place: number): string | null {
  if (content === undefined || content === null || content.length === 0) return null;
  if (role === 'assistant' && calls) return 'content beside tool_calls';
  return place > 0 && (role === 'system' || role === 'developer') ? `messages of the role ${role} after others` : null;
}
