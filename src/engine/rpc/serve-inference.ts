// Serves an InferenceEngine through the procedures of inference-procedures.ts, over any transport.
import { invariant } from '#base/invariant';
import type { Log } from '#base/log';
import type { InferenceEngine } from '../inference-engine.ts';
import {
  STATUS_NOTICE,
  type InferenceProcedures,
  type InferenceReady,
  type ReportedStatus,
} from './inference-procedures.ts';
import { createForwardingLog, LOG_NOTICE, type LifecycleProcedures } from './lifecycle-procedures.ts';
import type { Port, ToClient, ToServer } from './rpc-messages.ts';
import { serveRpc, type Handlers } from './rpc-server.ts';

/** Maximum age of the queue numbers that the caller sees, unless a longer step blocks this process. */
const STATUS_INTERVAL_MS = 100;

/** `start` opens the engine with the caller's options. */
export function serveInference<Options>(
  port: Port<ToClient, ToServer>,
  openEngine: (options: Options, log: Log) => Promise<InferenceEngine>,
): void {
  let engine: InferenceEngine | null = null;
  let reporting: NodeJS.Timeout | undefined;
  const server = serveRpc<InferenceProcedures & LifecycleProcedures<Options, InferenceReady>>(port, {
    async start(options) {
      const log = createForwardingLog((line) => server.notify(LOG_NOTICE, line));
      const opened = (engine = await openEngine(options, log));
      const report = createStatusReport(opened, (status) => server.notify(STATUS_NOTICE, status));
      reporting = setInterval(report, STATUS_INTERVAL_MS);
      return { contextLength: opened.contextLength, vocabSize: opened.vocabSize };
    },
    ping: async () => null,
    async stop() {
      clearInterval(reporting);
      await engine?.close();
      return null;
    },
    ...inferenceHandlers(() => {
      invariant(engine, 'the engine was called before it was started');
      return engine;
    }),
  });
}

export function inferenceHandlers(engine: () => InferenceEngine): Handlers<InferenceProcedures> {
  return {
    async generate(request, { signal, emit, onControl, room }) {
      const stream = engine().generate(request, signal);
      let isUnread = false;
      let goOn = () => {};
      const read = () => {
        isUnread = false;
        goOn();
      };
      onControl((control) => {
        if (typeof control === 'number') stream.cancelChoice(control);
        else if (control.isUnread) isUnread = true;
        else read();
      });
      signal.addEventListener('abort', read, { once: true });
      for await (const event of stream) {
        emit(event);
        if (isUnread) await new Promise<void>((resolve) => (goOn = resolve));
        if (room.isFull) await room.whenRoom();
      }
      return null;
    },
    async prepare({ constraint, payer }, { signal }) {
      await engine().prepare(constraint, payer, signal);
      return null;
    },
    async loadAdapter(adapter) {
      await engine().loadAdapter(adapter);
      return null;
    },
    async unloadAdapter(id) {
      await engine().unloadAdapter(id);
      return null;
    },
  };
}

/** Sends the status if it has changed since the last call. */
export function createStatusReport(engine: InferenceEngine, send: (status: ReportedStatus) => void): () => void {
  let reported = '';
  return () => {
    const { running, waiting, adapters } = engine.status();
    const status: ReportedStatus = { running, waiting, adapters };
    const text = JSON.stringify(status);
    if (text === reported) return;
    reported = text;
    send(status);
  };
}
