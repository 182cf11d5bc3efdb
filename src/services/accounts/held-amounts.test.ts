import { expect, test } from 'vitest';
import { AppError } from '#domain/errors';
import { createHeldAmounts, type AmountLimit } from './held-amounts.ts';

const key: AmountLimit = { account: { entity: 'team', keyId: 'k' }, max: 2 };
const server: AmountLimit = { account: null, max: 3 };

function open() {
  const used = new Map<string, number>();
  const nameOf = ({ account }: Pick<AmountLimit, 'account'>) => account?.keyId ?? 'server';
  const amounts = createHeldAmounts<AmountLimit>({
    readUsed: async (account) => used.get(nameOf({ account })) ?? 0,
    lockOf: () => '',
    refusal: ({ limit, isShared }) => new AppError('too_many_requests', `${nameOf(limit)} ${isShared}`),
  });
  const use = (limit: AmountLimit, amount: number) => used.set(nameOf(limit), (used.get(nameOf(limit)) ?? 0) + amount);
  return { amounts, use };
}

test('held amounts count against a shared limit until they are released', async () => {
  const { amounts } = open();
  const [one, other, without] = [
    await amounts.open([key, server]),
    await amounts.open([server]),
    await amounts.open([]),
  ];
  one.hold(2);
  expect(() => one.hold(1)).toThrow('k false');
  other.hold(1);
  expect(() => other.hold(1)).toThrow('server true');
  without.hold(1_000_000);
  one.release();
  other.hold(2);
});

test('an amount that is stored counts in the total and is no longer held', async () => {
  const { amounts, use } = open();
  const one = await amounts.open([key, server]);
  one.hold(1);
  const made = await one.settle(async () => {
    for (const limit of [key, server]) use(limit, 1);
    return { value: 'made', amount: 1 };
  });
  expect(made).toBe('made');
  one.hold(1);
  expect(() => one.hold(1)).toThrow('k false');
  one.release();
  const next = await amounts.open([key, server]);
  next.hold(1);
  expect(() => next.hold(1)).toThrow('k false');
});

test('an amount that is already stored reduces what is held, and a failed operation releases its amount', async () => {
  const { amounts, use } = open();
  use(key, 1);
  const one = await amounts.open([key]);
  one.hold(1);
  await expect(one.settle(() => Promise.reject(new Error('no room on the disk')))).rejects.toThrow('no room');
  expect(() => one.hold(1)).toThrow('k false');
  one.release();
  (await amounts.open([key])).hold(1);
  use(key, 1);
  const late = await amounts.open([key]);
  expect(() => late.hold(0)).toThrow('k true');
});
