// Times on the wire: ISO 8601, UTC.

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
