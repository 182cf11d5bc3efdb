// Names what a job does not use of data rows, for its first event: fields, and what the chat template leaves out.
import type { PreferencePair } from '#domain/dpo';
import type { SftRow, UnusedField } from '#domain/sft';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { createLeftOut } from './left-out.ts';

/** Reasoning reaches the template under each of these names. */
const REASONING = ['reasoning', 'reasoning_content', 'thinking'];
const FIELDS_MAX = 20;
/** Data may have another field in each row. */
const COUNTED_MAX = 1_000;

interface ReadRow {
  readonly row: SftRow | PreferencePair;
  readonly unused?: readonly UnusedField[];
}

export function createUnusedFields(encoder: Pick<ConversationEncoder, 'reads' | 'renderClosed'>) {
  const { reads } = encoder;
  const leftOut = createLeftOut(encoder);
  const rows = new Map<string, number>();
  const isRead = ({ of, field }: UnusedField): boolean =>
    of === 'message' && (REASONING.includes(field) ? REASONING : [field]).some(reads);
  return {
    note({ row, unused = [] }: ReadRow): void {
      leftOut.note(row);
      for (const each of unused) {
        const name = each.of === 'row' ? each.field : `messages[].${each.field}`;
        if ((rows.has(name) || rows.size < COUNTED_MAX) && !isRead(each)) rows.set(name, (rows.get(name) ?? 0) + 1);
      }
    },
    warnings(): string[] {
      const named = [...rows]
        .slice(0, FIELDS_MAX)
        .map(([field, count]) => `${field} (${count === 1 ? '1 row' : `${count} rows`})`);
      const more = rows.size > FIELDS_MAX ? `, and ${rows.size - FIELDS_MAX} more` : '';
      const fields =
        named.length === 0 ? [] : [`Fields of the training data that are not used: ${named.join(', ')}${more}.`];
      return [...fields, ...leftOut.warnings()];
    },
  };
}
