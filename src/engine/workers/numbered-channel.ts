// A channel of numbered messages in both directions that survives the loss of a connection (docs/worker-protocol.md, section 2):
// unacknowledged messages are kept and sent again on the next connection, and duplicates are ignored. Both ends use it. Knows no
// WebSocket: a connection is anything that sends bytes and can be closed.
import type { Port, Room } from '../rpc/rpc-messages.ts';
import { decodeMessage, encodeMessage } from '../rpc/codec.ts';

/** The part of a WebSocket that a channel needs. */
export interface Connection {
  send(bytes: Uint8Array): void;
  close(code: number, reason: string): void;
}

/** The bytes received are not a frame. */
export const PROTOCOL_FAULT = 4002;
/** The worker has another connection, or was restarted. */
export const REPLACED = 4001;
const ACK_AFTER_MS = 1_000;
const ACK_AFTER_BYTES = 1 << 20;

interface Kept {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

/** A port with backpressure that also sends messages encoded elsewhere. */
export interface EncodingPort<Outgoing, Incoming> extends Port<Outgoing, Incoming>, Room {
  readonly sendEncoded: (message: Uint8Array) => void;
}

export interface NumberedChannel<Outgoing, Incoming> extends EncodingPort<Outgoing, Incoming> {
  /** The highest number received: the other end need not send these messages again. */
  readonly received: number;
  /** Sends messages to this connection from now on, beginning after the last that the other end has received. */
  attach(connection: Connection, otherReceived: number): void;
  /** The connection is gone; messages are kept for the next one. */
  detach(): void;
  /** Handles bytes received on the attached connection. Closes it if they are not a frame. */
  take(bytes: Uint8Array): void;
}

export function createNumberedChannel<Outgoing, Incoming>(
  unackedBytesMax: number,
): NumberedChannel<Outgoing, Incoming> {
  const kept: Kept[] = [];
  let keptBytes = 0;
  let sent = 0;
  let received = 0;
  let connection: Connection | null = null;
  let handler: (message: Incoming) => void = () => {};
  let waiting: (() => void)[] = [];
  let owedBytes = 0;
  let ackTimer: NodeJS.Timeout | null = null;

  const frame = (seq: number, message: unknown): Uint8Array => {
    acknowledged();
    return encodeMessage([seq, received, message]);
  };
  /** Nil is one byte, so the bytes before it are the prefix of every message. */
  const frameAround = (seq: number, message: Uint8Array): Uint8Array =>
    Buffer.concat([frame(seq, null).subarray(0, -1), message]);
  function acknowledged(): void {
    owedBytes = 0;
    if (ackTimer) clearTimeout(ackTimer);
    ackTimer = null;
  }
  const acknowledge = () => connection?.send(frame(0, null));
  function owe(bytes: number): void {
    owedBytes += bytes;
    if (owedBytes > ACK_AFTER_BYTES) acknowledge();
    else ackTimer ??= setTimeout(acknowledge, ACK_AFTER_MS).unref();
  }

  function sendKept(bytes: Uint8Array): void {
    kept.push({ seq: sent, bytes });
    keptBytes += bytes.byteLength;
    connection?.send(bytes);
  }

  function forget(ack: number): void {
    while (kept.length > 0 && kept[0]!.seq <= ack) keptBytes -= kept.shift()!.bytes.byteLength;
    if (keptBytes > unackedBytesMax) return;
    for (const wake of waiting) wake();
    waiting = [];
  }

  function readFrame(bytes: Uint8Array): Frame {
    const value = decodeMessage(bytes);
    if (!isFrame(value)) throw new RangeError('a frame must be [seq, ack, message]');
    const [seq, ack] = value;
    if (ack > sent) throw new RangeError(`message ${ack} was acknowledged, but only ${sent} were sent`);
    if (seq > received + 1) throw new RangeError(`message ${seq} arrived after message ${received}`);
    return value;
  }

  return {
    get received() {
      return received;
    },
    get isFull() {
      return keptBytes > unackedBytesMax;
    },
    whenRoom: () => (keptBytes > unackedBytesMax ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
    send: (message) => sendKept(frame(++sent, message)),
    sendEncoded: (message) => sendKept(frameAround(++sent, message)),
    receive(handle) {
      handler = handle;
    },
    attach(to, otherReceived) {
      connection = to;
      forget(otherReceived);
      for (const { bytes } of kept) to.send(bytes);
    },
    detach() {
      connection = null;
      acknowledged();
    },
    take(bytes) {
      let read: Frame;
      try {
        read = readFrame(bytes);
      } catch (error) {
        connection?.close(PROTOCOL_FAULT, `invalid frame: ${(error as Error).message}`.slice(0, 120));
        return;
      }
      const [seq, ack, message] = read;
      forget(ack);
      if (seq !== received + 1) return; // a duplicate, or only an acknowledgement
      received = seq;
      owe(bytes.byteLength);
      handler(message as Incoming);
    },
  };
}

type Frame = readonly [seq: number, ack: number, message: unknown];

const isFrame = (value: unknown): value is Frame =>
  Array.isArray(value) && value.length === 3 && isCount(value[0]) && isCount(value[1]);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
