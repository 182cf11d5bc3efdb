// Items of a Responses input as they are stored and listed: each with an id, messages with a list of parts. Item references are
// resolved through the id of the stored response, which is part of the item's id.
import { z } from 'zod';
import type { WireObject } from '#services/responses/response-content';
import type { Item } from './responses-input.ts';

const ID_PREFIX = 'resp_';

/** The response id for a UUID. */
export const responseId = (id: string): string => `${ID_PREFIX}${id.replaceAll('-', '')}`;

type ItemKind = keyof typeof PREFIXES;
const PREFIXES = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
} as const;

/** Ids are derived from the response id, so that all events use the same ones. `place`: index of the item. */
export const itemId = (responseId: string, kind: ItemKind, place: string | number): string =>
  `${PREFIXES[kind]}_${responseId.slice(ID_PREFIX.length)}_${place}`;

/** Null: not an id of this server. */
export function responseOfItem(itemId: string): string | null {
  const id = /^[a-z]+_([0-9a-f]{32})_\w+$/.exec(itemId)?.[1];
  return id === undefined ? null : `${ID_PREFIX}${id}`;
}

/** The items that a client sent: a text is one user turn. */
export const itemsOf = (input: string | readonly Item[]): readonly Item[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;

/** Items of a request with this id. */
export const listedItems = (items: readonly Item[], responseId: string): WireObject[] =>
  items.map(({ id: given, ...item }, index) => {
    const type = item.type ?? 'message';
    const id = typeof given === 'string' && given !== '' ? given : itemId(responseId, type as ItemKind, `in${index}`);
    const content = typeof item.content === 'string' ? { content: [textPart(item.role, item.content)] } : {};
    return { ...item, id, type, status: item['status'] ?? 'completed', ...content };
  });

const textPart = (role: string | undefined, text: string) =>
  role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text };

const item = z.looseObject({ id: z.string(), type: z.string() });

/** One page of items. */
export const itemList = z.object({
  object: z.literal('list'),
  data: z.array(item),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
