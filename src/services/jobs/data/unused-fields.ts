// Names the fields of data rows that a job does not use, for its first event. What the chat template reads is used.
import type { UnusedField } from '#domain/sft';
import type { ConversationEncoder } from '#training/conversation-encoder';

/** Reasoning reaches the template under each of these names. */
const REASONING = ['reasoning', 'reasoning_content', 'thinking'];
const FIELDS_MAX = 20;
/** Data may have another field in each row. */
const COUNTED_MAX = 1_000;

export function createUnusedFields({ reads }: Pick<ConversationEncoder, 'reads'>) {
  const rows = new Map<string, number>();
  const isRead = ({ of, field }: UnusedField): boolean =>
    of === 'message' && (REASONING.includes(field) ? REASONING : [field]).some(reads);
  return {
    /** Of one row. */
    note(unused: readonly UnusedField[]): void {
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
      return named.length === 0 ? [] : [`Fields of the training data that are not used: ${named.join(', ')}${more}.`];
    },
  };
}
