// In how many rows each field occurs, in words. Rows may have any number of fields: those beyond a bound are not counted.
import { counted } from './counted.ts';

const NAMED_MAX = 20;
/** Data may have another field in each row. */
const COUNTED_MAX = 1_000;

/** `row`: what has the fields, in the singular. */
export function createFieldCounts(row: string) {
  const rows = new Map<string, number>();
  const takes = (field: string): boolean => rows.has(field) || rows.size < COUNTED_MAX;
  return {
    takes,
    add(field: string): void {
      if (takes(field)) rows.set(field, (rows.get(field) ?? 0) + 1);
    },
    /** `name (2 rows), id (1 row), and 3 more`; null: there are none. */
    words(): string | null {
      if (rows.size === 0) return null;
      const named = [...rows].slice(0, NAMED_MAX).map(([field, count]) => `${field} (${counted(count, row)})`);
      return `${named.join(', ')}${rows.size > NAMED_MAX ? `, and ${rows.size - NAMED_MAX} more` : ''}`;
    },
  };
}
