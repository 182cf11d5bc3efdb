// Workers on the wire, and the ranges in which their files are transferred.
import { z } from 'zod';
import { AppError } from '#domain/errors';
import { WORKER_PROTOCOL } from '#domain/worker-protocol';
import type { WorkerReport } from '#domain/worker';
import type { Piece } from '#services/workers';
import { isoOrNull } from '../http/time.ts';

const workerResponse = z
  .object({
    id: z.string(),
    name: z.string(),
    version: z.string(),
    base_model: z.string(),
    roles: z.array(z.enum(['sample', 'train'])),
    state: z
      .enum(['connected', 'away', 'draining'])
      .describe('away: its connection is lost and it is expected to reconnect. draining: it accepts no new calls.'),
    connected_at: z.string().describe('When it connected.'),
    silent_seconds: z.number().describe('Seconds since the last message from the worker.'),
    reconnects: z.int().describe('Number of times that the worker reconnected.'),
    tokens: z.int().describe('Number of tokens sampled by the worker.'),
    sessions: z.int().describe('Number of open training sessions on the worker.'),
    sequences_max: z
      .int()
      .nullable()
      .describe('Maximum number of choices computed at the same time; null if the worker does not sample.'),
    running: z.int().describe('Number of choices being computed.'),
    waiting: z.int().describe('Number of choices waiting on the worker.'),
    adapters: z.array(z.string()).describe('Ids of the checkpoints in the memory of the worker.'),
  })
  .meta({ title: 'Worker' });

export const workersResponse = z
  .object({ object: z.literal('list'), data: z.array(workerResponse) })
  .meta({ title: 'WorkerList' });

export const toWorkerResponse = ({
  model,
  connectedAtMs,
  silentMs,
  sequencesMax,
  roles,
  adapters,
  ...rest
}: WorkerReport) => ({
  ...rest,
  base_model: model,
  roles: [...roles],
  connected_at: isoOrNull(connectedAtMs)!,
  silent_seconds: silentMs / 1000,
  sequences_max: sequencesMax,
  adapters: [...adapters],
});

export const uploadProgress = z.object({ complete: z.boolean(), offset: z.int() }).meta({ title: 'UploadProgress' });

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex');

/** `bytes 0-99/1000`. Throws `invalid_request`. */
export function readContentRange(header: string | undefined): Piece {
  const [, first, last, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(header ?? '')?.map(Number) ?? [];
  const piece = { offset: first!, length: last! - first! + 1, total: total! };
  if (total !== undefined && last! >= first! && last! < total && piece.length <= WORKER_PROTOCOL.pieceBytesMax)
    return piece;
  throw new AppError(
    'invalid_request',
    `Send a piece of at most ${WORKER_PROTOCOL.pieceBytesMax} bytes with the header Content-Range: bytes FIRST-LAST/TOTAL.`,
    { param: 'content-range' },
  );
}

/** `bytes=100-`. Null: the whole file. */
export function readRangeStart(header: string | undefined, bytes: number): number | null {
  const start = Number(/^bytes=(\d{1,15})-$/.exec(header ?? '')?.[1] ?? NaN);
  return Number.isNaN(start) || start >= bytes ? null : start;
}
