// Artifacts that were announced but not yet committed. Their content is stored as one text, because no query needs a part of it.
import type { Kysely, Transaction } from 'kysely';
import { rowBytes, type ArtifactDraft } from '#domain/artifact';
import { artifactRows } from '#domain/blob-names';
import type { ArtifactStore } from '../artifact-store.ts';
import { chargeWithin } from './accounts.ts';
import type { Tables } from './rows.ts';
import { ofEntity, transactionAlone, transactionOf } from './transaction.ts';

export function createDraftStore(db: Kysely<Tables>): Pick<ArtifactStore, 'putDraft' | 'findDraft' | 'removeDrafts'> {
  return {
    putDraft: (draft, payer) =>
      transactionOf(db, ofEntity(draft.entity), async (tx) => {
        const { id, entity, createdAtMs, metadata, aliases } = draft;
        const sizeBytes = rowBytes({ metadata, files: [] }, aliases.length);
        if (!(await chargeWithin(tx, { blob: artifactRows(id), entity, sizeBytes }, payer))) return 'over_limit';
        const about = JSON.stringify(draft);
        await tx
          .insertInto('artifact_drafts')
          .values({ id, about, created_at_ms: createdAtMs })
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ about }))
          .execute();
        return 'stored';
      }),

    async findDraft(id) {
      const row = await db.selectFrom('artifact_drafts').select('about').where('id', '=', id).executeTakeFirst();
      return row ? (JSON.parse(row.about) as ArtifactDraft) : null;
    },

    async removeDrafts(which) {
      const remove = async (tx: Transaction<Tables>): Promise<void> => {
        const all = tx.deleteFrom('artifact_drafts').returning('id');
        const gone = await (
          'id' in which ? all.where('id', '=', which.id) : all.where('created_at_ms', '<', which.createdBeforeMs)
        ).execute();
        for (const { id } of gone) {
          await tx
            .deleteFrom('stored_blobs')
            .where('blob', '=', artifactRows(id))
            .where((where) => where.not(where.exists(where.selectFrom('artifacts').select('id').where('id', '=', id))))
            .execute();
        }
      };
      if (!('id' in which)) return transactionAlone(db, remove);
      const draft = await this.findDraft(which.id);
      if (draft) await transactionOf(db, ofEntity(draft.entity), remove);
    },
  };
}
