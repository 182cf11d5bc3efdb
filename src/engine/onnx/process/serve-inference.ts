// The inference child: an InferenceEngine behind the procedures that its parent calls.
import { invariant } from '#base/invariant';
import type { InferenceEngine } from '../../inference-engine.ts';
import { openOnnxInferenceEngine } from '../serving/onnx-inference-engine.ts';
import { createForwardingLog } from './child-process-port.ts';
import {
  STATUS_NOTICE,
  type InferenceChildStatus,
  type InferenceProcedures,
  type InferenceReady,
  type InferenceStart,
} from './inference-procedures.ts';
import type { Port, ToClient, ToServer } from './rpc-messages.ts';
import { serveRpc } from './rpc-server.ts';
import type { LifecycleProcedures, LogLine } from './supervised-child.ts';

/** How old the parent's view of the queues may be, when no step blocks us for longer. */
const STATUS_INTERVAL_MS = 100;

type Procedures = InferenceProcedures & LifecycleProcedures<InferenceStart, InferenceReady>;

export function serveInference(port: Port<ToClient, ToServer>): void {
  let engine: InferenceEngine | null = null;
  const opened = (): InferenceEngine => {
    invariant(engine, 'the engine was called before it was started');
    return engine;
  };
  const server = serveRpc<Procedures>(port, {
    async start(options) {
      const log = createForwardingLog((line: LogLine) => server.notify('log', line));
      engine = await openOnnxInferenceEngine({ ...options, log });
      setInterval(reportStatus, STATUS_INTERVAL_MS);
      return { contextLength: engine.contextLength, vocabSize: engine.vocabSize };
    },
    ping: async () => null,
    async stop() {
      await engine?.close();
      return null;
    },
    async generate(request, { signal, emit, onTold }) {
      const stream = opened().generate(request, signal);
      onTold((choiceIndex) => stream.cancelChoice(choiceIndex));
      for await (const event of stream) emit(event);
      return null;
    },
    async prepare(constraint, { signal }) {
      await opened().prepare(constraint, signal);
      return null;
    },
    async loadAdapter(adapter) {
      await opened().loadAdapter(adapter);
      return null;
    },
    async unloadAdapter(id) {
      await opened().unloadAdapter(id);
      return null;
    },
  });

  let reported = '';
  function reportStatus(): void {
    const { running, waiting, adapters } = opened().status();
    const status: InferenceChildStatus = { running, waiting, adapters };
    const text = JSON.stringify(status);
    if (text === reported) return;
    reported = text;
    server.notify(STATUS_NOTICE, status);
  }
}
