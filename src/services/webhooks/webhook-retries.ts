// When a failed call is repeated: the pauses of Standard Webhooks, three days in all, each varied by up to a tenth, so that calls that
// failed together are not repeated together.
import { createHash } from 'node:crypto';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

export const RETRY_PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** The pause after this number of attempts. Null: that was the last. Deterministic for a delivery and a number. */
export function retryAtMs(deliveryId: string, attempts: number, nowMs: number): number | null {
  const pauseMs = RETRY_PAUSES_MS[attempts - 1];
  return pauseMs === undefined
    ? null
    : nowMs + Math.round(pauseMs * (0.9 + 0.2 * fractionOf(`${deliveryId}.${attempts}`)));
}

/** 0…1, evenly distributed over texts. */
const fractionOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
