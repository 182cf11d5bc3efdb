// Traces, configured by OpenTelemetry's environment variables and sent to a collector (OTLP over HTTP). Off unless a variable names an
// endpoint; then nothing is loaded and every span is a no-op. The SDK reads the environment itself: endpoints, headers, samplers,
// limits. Callers decide what is recorded: never prompts, entities or keys.
import type * as otel from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import pTimeout from 'p-timeout';
import type { Log } from './log.ts';

export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

export interface Span {
  child(name: string, attributes?: Attributes, startMs?: number): Span;
  set(attributes: Attributes): void;
  event(name: string): void;
  /** Marks the span as failed, by the error's code or class: messages may quote what clients sent. */
  fail(error: unknown): void;
  end(endMs?: number): void;
}

export interface Tracing {
  /** Continues the caller's trace if the headers carry a `traceparent`. */
  serve(name: string, headers: Readonly<Record<string, unknown>>, attributes: Attributes): Span;
  /** Remembers that this id was created in that span: a later `work` on it links there. */
  remember(id: string, span: Span): void;
  /** Starts a trace of its own. The link is lost if the server has restarted since. */
  work(name: string, id: string, attributes: Attributes): Span;
  /** Sends remaining spans, for at most CLOSE_MS. */
  close(): Promise<void>;
}

const CLOSE_MS = 3_000; // service managers kill after 10 s and more
/** Ids of jobs that may still be queued, about 200 bytes each. */
const REMEMBERED_MAX = 1_024;
/** Limits how often an unreachable collector is logged. */
const COMPLAIN_MS = 60_000;

export const NO_SPAN: Span = { child: () => NO_SPAN, set() {}, event() {}, fail() {}, end() {} };

export const noTracing: Tracing = {
  serve: () => NO_SPAN,
  remember() {},
  work: () => NO_SPAN,
  close: async () => {},
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Why tracing is off although the environment seems to ask for it; null if it does not. */
export function planTracing(env: Environment): 'on' | { unsupported: string } | null {
  const setting = (name: string): string | null => env[name]?.trim() || null; // empty counts as unset in OpenTelemetry
  if (setting('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;
  if (!setting('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') && !setting('OTEL_EXPORTER_OTLP_ENDPOINT')) return null;
  const exporters = (setting('OTEL_TRACES_EXPORTER') ?? 'otlp').split(',').map((name) => name.trim());
  if (exporters.includes('none')) return null;
  if (!exporters.includes('otlp')) return { unsupported: `OTEL_TRACES_EXPORTER=${exporters.join()}` };
  const protocol = setting('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? setting('OTEL_EXPORTER_OTLP_PROTOCOL');
  return protocol === null || protocol === 'http/protobuf'
    ? 'on'
    : { unsupported: `OTEL_EXPORTER_OTLP_PROTOCOL=${protocol}` };
}

/** The environment is often set for a whole cluster, so a setting that does not work here gives a warning and no error. */
export async function openTracing({ version, log }: { version: string; log: Log }): Promise<Tracing> {
  const plan = planTracing(process.env);
  if (plan === null) return noTracing;
  if (plan !== 'on') {
    log.warn('tracing.unsupported', { ...plan, supported: 'otlp by http/protobuf' });
    return noTracing;
  }
  const [api, core, resources, sdk, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  const complain = seldom((message: string) => log.warn('tracing.failed', { message }));
  const ignore = () => {};
  api.diag.setLogger(
    { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const named = resources.resourceFromAttributes({ 'service.name': 'whetstone', 'service.version': version });
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .defaultResource()
      .merge(named)
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter())],
  });
  log.info('tracing.started');
  return createTracing(api, provider, new core.W3CTraceContextPropagator(), version, log);
}

function createTracing(
  { trace, ROOT_CONTEXT, SpanKind, SpanStatusCode, defaultTextMapGetter }: typeof otel,
  provider: otel.TracerProvider & { shutdown(): Promise<void> },
  propagator: otel.TextMapPropagator,
  version: string,
  log: Log,
): Tracing {
  const tracer = provider.getTracer('whetstone', version);
  const contexts = new WeakMap<Span, otel.SpanContext>();
  const origins = new LRUCache<string, otel.SpanContext>({ max: REMEMBERED_MAX });

  function start(name: string, options: otel.SpanOptions, parent: otel.Context): Span {
    const span = tracer.startSpan(name, options, parent);
    const started: Span = {
      child: (childName, attributes = {}, startMs) =>
        start(
          childName,
          { attributes, ...(startMs === undefined ? {} : { startTime: startMs }) },
          trace.setSpan(ROOT_CONTEXT, span),
        ),
      set(attributes) {
        for (const [key, value] of Object.entries(attributes)) if (value !== undefined) span.setAttribute(key, value);
      },
      event: (eventName) => void span.addEvent(eventName),
      fail(error) {
        span.setAttribute('error.type', errorType(error));
        span.setStatus({ code: SpanStatusCode.ERROR });
      },
      end: (endMs) => span.end(endMs),
    };
    contexts.set(started, span.spanContext());
    return started;
  }

  return {
    serve: (name, headers, attributes) =>
      start(
        name,
        { kind: SpanKind.SERVER, attributes },
        propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter),
      ),
    remember(id, span) {
      const context = contexts.get(span);
      if (context) origins.set(id, context);
    },
    work(name, id, attributes) {
      const context = origins.get(id);
      return start(name, { attributes, links: context ? [{ context }] : [] }, ROOT_CONTEXT);
    },
    async close() {
      const outcome = await pTimeout<void | string>(provider.shutdown(), {
        milliseconds: CLOSE_MS,
        fallback: () => 'late',
      }).catch(() => 'failed');
      if (outcome !== undefined) log.warn('tracing.not_flushed', { outcome });
    },
  };
}

function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : '_OTHER';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function seldom(complain: (message: string) => void): (message: string) => void {
  let quietUntilMs = 0;
  return (message) => {
    if (performance.now() < quietUntilMs) return;
    quietUntilMs = performance.now() + COMPLAIN_MS;
    complain(message);
  };
}
