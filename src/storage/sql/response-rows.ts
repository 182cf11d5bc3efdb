// The table of responses as TypeScript types, and its rows as domain objects and back. All other tables are in rows.ts.
import type { Selectable } from 'kysely';
import type { ResponseStatus, StoredResponse } from '#domain/stored-response';

export interface ResponseTable {
  id: string;
  entity: string;
  key_id: string;
  project: string;
  base_model: string;
  status: ResponseStatus;
  attempt: number;
  worker: string | null;
  lease_until_ms: number | null;
  claimed_at_ms: number | null;
  blob: string;
  error_code: string | null;
  error_message: string | null;
  created_at_ms: number;
  ended_at_ms: number | null;
}

export const toResponse = (row: Selectable<ResponseTable>): StoredResponse => ({
  id: row.id,
  entity: row.entity,
  keyId: row.key_id,
  project: row.project,
  baseModel: row.base_model,
  status: row.status,
  attempt: row.attempt,
  blob: row.blob,
  error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  createdAtMs: row.created_at_ms,
  endedAtMs: row.ended_at_ms,
});

export const fromResponse = (response: StoredResponse) => ({
  id: response.id,
  entity: response.entity,
  key_id: response.keyId,
  project: response.project,
  base_model: response.baseModel,
  status: response.status,
  attempt: response.attempt,
  blob: response.blob,
  error_code: response.error?.code ?? null,
  error_message: response.error?.message ?? null,
  created_at_ms: response.createdAtMs,
  ended_at_ms: response.endedAtMs,
});
