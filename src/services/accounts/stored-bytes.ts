// Bytes on their way into the storage, reserved (held-amounts.ts) before they are read. The storage charges the final size in the
// transaction that records it, so that servers which share a storage never exceed a limit together; each server reads no more at
// once than is left.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#domain/errors';
import type { AccountStore, Payer } from '#storage/account-store';
import type { BlobStore } from '#storage/blobs';
import type { Account } from '#domain/limits';
import { createHeldAmounts, type Hold, type Refused } from './held-amounts.ts';

export interface StoredLimit {
  readonly account: Account;
  readonly max: number;
  /** "this key", or the entity's name. */
  readonly whose: string;
}

export interface Reservation extends Hold {
  readonly payer: Payer;
  /** Charges what is stored. Returns false if that exceeds a limit, because another server was faster; then nothing is recorded. */
  charge(blob: string, sizeBytes: number): Promise<boolean>;
}

/** When the reservation expires if nobody ends it. */
export type OpenReservation = Omit<Reservation, 'release'>;

/** The remedy takes a person: something has to be deleted. */
const RETRY_SECONDS = 60;
const TO_DO = 'Delete models, checkpoints or artifacts.';

export function createStoredBytes(accounts: Pick<AccountStore, 'storedBytes' | 'addBlobWithin'>) {
  const amounts = createHeldAmounts<StoredLimit>({
    readUsed: (account) => accounts.storedBytes(account),
    lockOf: ([limit]) => limit!.account.entity,
    refusal,
  });
  return {
    async reserve(payer: Payer, entity: string, limits: readonly StoredLimit[]): Promise<Reservation> {
      const hold = await amounts.open(limits);
      return {
        ...hold,
        payer,
        charge: (blob, sizeBytes) =>
          hold.settle(async () => {
            const fits = await accounts.addBlobWithin({ blob, entity, sizeBytes }, payer);
            return { value: fits, amount: fits ? sizeBytes : 0 };
          }),
      };
    },
  };
}

export type HeldBlobs = Pick<BlobStore, 'put' | 'putDirectory'>;

/** Stores blobs within a reservation: reserved while they are written, and charged once they are there, before any row names them. */
export function holdBlobs(blobs: BlobStore, reservation: Pick<Reservation, 'hold' | 'charge'>): HeldBlobs {
  reservation.hold(0); // refuses at once if the limit is already reached
  async function charged(name: string, stored: { sizeBytes: number }): Promise<{ sizeBytes: number }> {
    if (await reservation.charge(name, stored.sizeBytes)) return stored;
    await blobs.delete(name);
    throw tooMuch();
  }
  async function* reserved(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      reservation.hold(chunk.length);
      yield chunk;
    }
  }
  return {
    async put(name, content) {
      if (content instanceof Uint8Array) reservation.hold(content.length);
      return charged(name, await blobs.put(name, content instanceof Uint8Array ? content : reserved(content)));
    },
    async putDirectory(prefix, directory) {
      reservation.hold(await sizeOf(directory));
      return charged(prefix, await blobs.putDirectory(prefix, directory));
    },
  };
}

async function sizeOf(directory: string): Promise<number> {
  const files = (await readdir(directory)).map((name) => stat(join(directory, name)));
  return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
}

function refusal({ limit: { max, whose }, used, held, isShared }: Refused<StoredLimit>): AppError {
  if (used >= max) {
    return tooMuch(`${whose[0]!.toUpperCase()}${whose.slice(1)} stores ${used} bytes, over its limit of ${max}`);
  }
  const left = `${max - used - held} bytes that ${whose} may still store`;
  return tooMuch(`This is over the ${left}${isShared ? ', in addition to what it is storing now' : ''}`);
}

/** Also used where the storage itself refuses, because another request was faster. */
export const tooMuch = (what = 'This is over the limit of stored bytes'): AppError =>
  new AppError('too_many_requests', `${what}. ${TO_DO}`, { retryAfterSeconds: RETRY_SECONDS });
