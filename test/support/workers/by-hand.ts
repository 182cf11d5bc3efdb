// The worker's end of a connection, driven by hand: for messages that our workers never send, and for leaving in the middle
// of a call.
import { WebSocket } from 'ws';
import { decodeMessage, encodeMessage } from '#engine/rpc/codec';
import { BOOTSTRAP_KEY } from '../api/test-server.ts';
import type { WorkerLab } from './worker-lab.ts';

export interface Hand {
  readonly socket: WebSocket;
  /** All received messages, in order. */
  readonly came: readonly unknown[];
  /** Resolves with code and reason. */
  readonly closed: Promise<string>;
  readonly opened: Promise<unknown>;
}

export function openSocket(url: string, key = BOOTSTRAP_KEY): Hand {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/workers/connect`, 'whetstone.worker.v1', {
    headers: { authorization: `Bearer ${key}` },
  });
  const came: unknown[] = [];
  const closed = new Promise<string>((resolve) => {
    socket.once('close', (code, reason) => resolve(`${code} ${reason.toString()}`));
    socket.on('error', (error) => resolve(error.message));
  });
  socket.on('message', (data: Buffer) => came.push(decodeMessage(data)));
  const opened = new Promise((resolve) => socket.once('open', resolve));
  return { socket, came, closed, opened };
}

/** Says hello as a sampler of the server's model, with `changes`. */
export async function sayHello(
  lab: Pick<WorkerLab, 'url' | 'model' | 'capabilities'>,
  changes: Readonly<Record<string, unknown>> = {},
  key = BOOTSTRAP_KEY,
): Promise<Hand> {
  const { id, configSha256, tokenizerSha256, contextLength, vocabSize } = lab.model;
  const hand = openSocket(lab.url, key);
  await hand.opened;
  const { capabilities } = lab;
  const hello = {
    kind: 'hello',
    protocol: 1,
    worker: { id: 'by-hand', name: 'hand', version: '1' },
    session: null,
    model: { id, configSha256, tokenizerSha256 },
    roles: ['sample'],
    sampler: { contextLength, vocabSize, sequencesMax: 8, adaptersMax: 1, capabilities },
    trainer: null,
    ...changes,
  };
  hand.socket.send(encodeMessage(hello));
  return hand;
}

export interface Called {
  readonly id: number;
  readonly method: string;
}

export const callsOf = ({ came }: Hand): Called[] =>
  came.slice(1).flatMap((frame) => {
    const message = (frame as readonly [number, number, ({ kind: string } & Called) | null])[2];
    return message?.kind === 'call' ? [message] : [];
  });
