// What every AccountStore promises; part of the storage contract.
import { expect, test } from 'vitest';
import type { Storage } from '#storage/storage';

export function accountContract(open: () => Promise<Storage>): void {
  test('limits of an entity are replaced as a whole', async () => {
    const { accounts } = await open();
    expect(await accounts.limitsOf('team')).toEqual({});
    await accounts.setLimits('team', { queuedJobs: 3, storedBytes: 5e12 });
    await accounts.setLimits('a-team', { requestsInFlight: 0 });
    await accounts.setLimits('team', { tokensPerDay: 1 });
    expect(await accounts.limitsOf('team')).toEqual({ tokensPerDay: 1 });
    expect(await accounts.listLimits()).toEqual([
      { entity: 'a-team', limits: { requestsInFlight: 0 } },
      { entity: 'team', limits: { tokensPerDay: 1 } },
    ]);
  });

  test('bytes are charged within the limits of the payer, also concurrently', async () => {
    const { accounts } = await open();
    const payer = { keyId: 'k1', keyBytesMax: 250, entityBytesMax: 1_000 };
    const add = (blob: string, sizeBytes: number, by = payer) =>
      accounts.addBlobWithin({ blob, entity: 'team', sizeBytes }, by);
    const fitted = await Promise.all(Array.from({ length: 8 }, (_, i) => add(`logs/m/${i}`, 100)));
    expect(fitted.filter(Boolean)).toHaveLength(2);
    expect(await accounts.storedBytes({ entity: 'team', keyId: 'k1' })).toBe(200);
    const again = `logs/m/${fitted.indexOf(true)}`;
    expect(await add(again, 150)).toBe(true); // replaces its 100
    expect(await add('logs/m/other', 1)).toBe(false);
    expect(await add('logs/m/other', 751, { ...payer, keyId: 'k2', keyBytesMax: 800 })).toBe(false);
    expect(await add('logs/m/other', 750, { ...payer, keyId: 'k2', keyBytesMax: 800 })).toBe(true);
    expect(await accounts.storedBytes({ entity: 'team', keyId: null })).toBe(1_000);
  });

  test('stored bytes add up by entity and key, and go with their blob', async () => {
    const { accounts } = await open();
    const add = (blob: string, entity: string, keyId: string, sizeBytes: number) =>
      accounts.addBlob({ blob, entity, keyId, sizeBytes });
    await add('jobs/1/body', 'team', 'k1', 10);
    await add('jobs/2/body', 'team', 'k2', 200);
    await add('jobs/10/body', 'team', 'k1', 3_000);
    await add('jobs/3/body', 'others', 'k1', 5);
    await add('jobs/1/body', 'team', 'k1', 11); // stored again
    expect(await accounts.storedBytes({ entity: 'team', keyId: null })).toBe(3_211);
    expect(await accounts.storedBytes({ entity: 'team', keyId: 'k1' })).toBe(3_011);
    expect(await accounts.storedBytes({ entity: 'nobody', keyId: null })).toBe(0);
    await accounts.removeBlobs('jobs/1'); // not jobs/10
    await accounts.removeBlobs('jobs/1');
    await accounts.removeBlobs('jobs/2/body');
    expect(await accounts.storedBytes({ entity: 'team', keyId: null })).toBe(3_000);
    expect(await accounts.storedBytes({ entity: 'others', keyId: null })).toBe(5);
  });
}
