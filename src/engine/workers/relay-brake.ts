// Slows down calls whose events are passed on unread while the connection has no room: their engine is told that the events are not
// being read, as if the server had said so (docs/worker-protocol.md, sections 2 and 4). Knows no engine.
import type { ToldGeneration } from '../rpc/inference-procedures.ts';
import type { CallContext } from '../rpc/rpc-server.ts';
import type { EncodingPort } from './numbered-channel.ts';

type Told = Pick<CallContext<never, ToldGeneration>, 'signal' | 'onTold'>;

export interface RelayBrake {
  /** Sends an encoded message of the engine. */
  readonly send: (message: Uint8Array) => void;
  /** Calls `relay` with the call as its engine should see it. */
  run(call: Told, relay: (held: Told) => Promise<void>): Promise<void>;
}

interface HeldCall {
  /** Whether the server has reported that the events are not being read. */
  isUnread: boolean;
  tell: (told: ToldGeneration) => void;
}

export function createRelayBrake(
  port: Pick<EncodingPort<never, never>, 'sendEncoded' | 'isFull' | 'whenRoom'>,
): RelayBrake {
  const calls = new Set<HeldCall>();
  let isHolding = false;

  function hold(isHeld: boolean): void {
    isHolding = isHeld;
    for (const { isUnread, tell } of calls) if (!isUnread) tell({ isUnread: isHeld });
  }
  function look(): void {
    if (isHolding || !port.isFull) return;
    hold(true);
    void port.whenRoom().then(() => {
      hold(false);
      look();
    });
  }

  return {
    send(message) {
      port.sendEncoded(message);
      look();
    },
    async run({ signal, onTold }, relay) {
      const call: HeldCall = { isUnread: false, tell: () => {} };
      calls.add(call);
      const listen: Told['onTold'] = (tell) => {
        call.tell = tell;
        onTold((told) => {
          if (typeof told !== 'number') call.isUnread = told.isUnread;
          if (typeof told === 'number' || !isHolding) tell(told);
        });
        if (isHolding) tell({ isUnread: true });
      };
      try {
        await relay({ signal, onTold: listen });
      } finally {
        calls.delete(call);
      }
    },
  };
}
