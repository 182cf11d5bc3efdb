// How much of the batch each payer holds, and which sequence gives up its place for which request. A payer's share is the larger of its
// part of the places and its part of the cache (dominant resource fairness, Ghodsi et al., NSDI 2011). A place moves from one payer to
// another only if the giver then still holds at least as much as the taker: every move brings shares closer, so two payers never take
// from each other back and forth. Streams that are not being read go first, whoever pays. Knows no queues and no plans.
import type { Rank } from '../../rank.ts';

/** Room in the batch: in total, held by a payer, or requested. */
export interface Places {
  readonly slots: number;
  readonly tokens: number;
}

/** A sequence or a prompt that holds a place. */
export interface Holder {
  readonly rank: Rank;
  /** Its tokens in the cache. */
  readonly tokens: number;
  /** Its stream is not being read, so its events pile up. */
  readonly unread: boolean;
}

export interface Shares {
  /** Between 0 and 1. */
  of(payer: string): number;
  /** Its place now belongs to another. */
  giveUp(holder: Holder): void;
  take(payer: string, places: Places): void;
}

export function createShares(all: Places, holders: readonly Holder[]): Shares {
  const byPayer = new Map<string, Places>();
  const add = (payer: string, slots: number, tokens: number) => {
    const before = byPayer.get(payer) ?? { slots: 0, tokens: 0 };
    byPayer.set(payer, { slots: before.slots + slots, tokens: before.tokens + tokens });
  };
  for (const { rank, tokens } of holders) add(rank.payer, 1, tokens);
  return {
    of(payer) {
      const own = byPayer.get(payer);
      return own ? Math.max(own.slots / all.slots, own.tokens / all.tokens) : 0;
    },
    giveUp: ({ rank, tokens }) => add(rank.payer, -1, -tokens),
    take: (payer, { slots, tokens }) => add(payer, slots, tokens),
  };
}

/** Returns, of holders in order of rank, the one whose place another request may take; `shares` already counts that request. */
export function findGiver<H extends Holder>(holders: readonly H[], shares: Shares, taker: Rank): H | null {
  const unread = holders.findLast((holder) => holder.unread);
  if (unread) return unread;
  const others = holders.filter(({ rank }) => rank.payer !== taker.payer && rank.priority >= taker.priority);
  const giver = lastOfRichest(others, shares);
  if (!giver) return null;
  shares.giveUp(giver);
  const keepsEnough = shares.of(giver.rank.payer) >= shares.of(taker.payer);
  shares.take(giver.rank.payer, { slots: 1, tokens: giver.tokens });
  return keepsEnough ? giver : null;
}

/** Returns, of holders in order of rank, the one that gives up its place if all of them together need too much. */
export function findLeast<H extends Holder>(holders: readonly H[], shares: Shares): H | null {
  const unread = holders.findLast((holder) => holder.unread);
  if (unread) return unread;
  const last = Math.max(...holders.map(({ rank }) => rank.priority));
  return lastOfRichest(
    holders.filter(({ rank }) => rank.priority === last),
    shares,
  );
}

function lastOfRichest<H extends Holder>(holders: readonly H[], shares: Shares): H | null {
  const most = Math.max(...holders.map(({ rank }) => shares.of(rank.payer)));
  return holders.findLast(({ rank }) => shares.of(rank.payer) === most) ?? null;
}
