// A fetch whose answers may take as long as the caller lets them. Node's own gives up after five minutes without headers (undici's
// `headersTimeout`), which an answer that is not streamed can take on a processor. Node exports no way to set that: it is set on each request,
// through the dispatcher that all requests use, which undici keeps under this symbol.
const SHARED = Symbol.for('undici.globalDispatcher.1');

type Dispatch = (options: object, handler: unknown) => boolean;

interface Dispatcher {
  /** Absent in old versions. */
  readonly compose?: (interceptor: (dispatch: Dispatch) => Dispatch) => object;
}

interface Globals {
  readonly [SHARED]?: Dispatcher;
  readonly process?: { readonly versions?: { readonly node?: string } };
}

const patiently =
  (dispatch: Dispatch): Dispatch =>
  (options, handler) =>
    dispatch({ ...options, headersTimeout: 0 }, handler);

/** Undefined outside of Node. */
function sharedDispatcher(): Dispatcher | undefined {
  const globals = globalThis as Globals;
  if (!globals.process?.versions?.node) return undefined;
  if (!globals[SHARED]) void fetch('data:,').catch(() => {}); // Node makes it at the first call
  return globals[SHARED];
}

export function patientFetch(url: string, init: RequestInit): Promise<Response> {
  const dispatcher = sharedDispatcher()?.compose?.(patiently);
  return fetch(url, dispatcher ? Object.assign({ dispatcher }, init) : init); // in browsers, called on its window
}
