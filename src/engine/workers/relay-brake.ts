// Slows down calls whose events are passed on unread while the connection has no room: their engine is told that the events are not
// being read, as if the server had said so (docs/worker-protocol.md, sections 2 and 4). Knows no engine.
import type { GenerationControl } from '../rpc/inference-procedures.ts';
import type { CallContext } from '../rpc/rpc-server.ts';
import type { EncodingPort } from './numbered-channel.ts';

type ControlledCall = Pick<CallContext<never, GenerationControl>, 'signal' | 'onControl'>;

export interface RelayBrake {
  /** Sends an encoded message of the engine. */
  readonly send: (message: Uint8Array) => void;
  /** Calls `relay` with the call as its engine should see it. */
  run(call: ControlledCall, relay: (slowed: ControlledCall) => Promise<void>): Promise<void>;
}

interface HeldCall {
  /** Whether the server has reported that the events are not being read. */
  isUnread: boolean;
  tell: (control: GenerationControl) => void;
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
    async run({ signal, onControl }, relay) {
      const call: HeldCall = { isUnread: false, tell: () => {} };
      calls.add(call);
      const listen: ControlledCall['onControl'] = (tell) => {
        call.tell = tell;
        onControl((control) => {
          if (typeof control !== 'number') call.isUnread = control.isUnread;
          if (typeof control === 'number' || !isHolding) tell(control);
        });
        if (isHolding) tell({ isUnread: true });
      };
      try {
        await relay({ signal, onControl: listen });
      } finally {
        calls.delete(call);
      }
    },
  };
}
