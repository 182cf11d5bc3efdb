// Sessions of Tinker's clients and their sampling sessions.
import type { Kysely } from 'kysely';
import type { TinkerStore } from '../tinker-store.ts';
import type { Tables } from './rows.ts';
import { findRow, slicedIds } from './tinker-lists.ts';
import * as rows from './tinker-rows.ts';

export const sessionsOfTinker = (
  db: Kysely<Tables>,
): Pick<
  TinkerStore,
  | 'createSession'
  | 'findSession'
  | 'touchSession'
  | 'endSession'
  | 'listSessions'
  | 'createSampler'
  | 'findSampler'
  | 'listSamplersOf'
  | 'listSamplerIdsOf'
  | 'deleteSampler'
> => ({
  async createSession(session) {
    await db.insertInto('tinker_sessions').values(rows.fromSession(session)).execute();
  },
  async findSession(id) {
    const row = await findRow(db, 'tinker_sessions', id);
    return row && rows.toSession(row);
  },
  async touchSession(id, nowMs) {
    await db
      .updateTable('tinker_sessions')
      .set({ seen_at_ms: nowMs })
      .where('id', '=', id)
      .where('seen_at_ms', '<', nowMs)
      .execute();
  },
  async endSession(id, nowMs) {
    await db
      .updateTable('tinker_sessions')
      .set({ ended_at_ms: nowMs })
      .where('id', '=', id)
      .where('ended_at_ms', 'is', null)
      .execute();
  },
  listSessions: (entity, slice) => slicedIds(db.selectFrom('tinker_sessions').where('entity', '=', entity), slice),

  async createSampler(sampler) {
    await db
      .insertInto('tinker_samplers')
      .values(rows.fromSampler(sampler))
      .onConflict((at) => at.columns(['session_id', 'ordinal']).doNothing())
      .execute();
    const row = await db
      .selectFrom('tinker_samplers')
      .selectAll()
      .where('session_id', '=', sampler.sessionId)
      .where('ordinal', '=', sampler.ordinal)
      .executeTakeFirstOrThrow();
    return rows.toSampler(row);
  },
  async findSampler(id) {
    const row = await findRow(db, 'tinker_samplers', id);
    return row && rows.toSampler(row);
  },
  async listSamplersOf(sessionId) {
    const found = await db
      .selectFrom('tinker_samplers')
      .selectAll()
      .where('session_id', '=', sessionId)
      .orderBy('ordinal')
      .execute();
    return found.map(rows.toSampler);
  },
  async listSamplerIdsOf(sessionId) {
    const found = await db
      .selectFrom('tinker_samplers')
      .select('id')
      .where('session_id', '=', sessionId)
      .orderBy('ordinal')
      .execute();
    return found.map(({ id }) => id);
  },
  async deleteSampler(id) {
    await db.deleteFrom('tinker_samplers').where('id', '=', id).execute();
  },
});
