// Chat templates that come with requests are untrusted programs: they run in a separate process with little memory and a deadline, which is
// replaced when a template ends it (a thread is not enough: V8 ends the whole process when a thread allocates too much at once). The
// queue is fair to payers: a request waits for at most one of each other payer. The model's own template is trusted and runs in
// chat-template.ts.
import { AppError } from '#domain/errors';
import type { RenderRequest } from '../chat-template.ts';
import { createTextQueue, type OnBehalf, type QueueLimits } from '../text-queue.ts';
import { openTemplateChild, type Loss, type TemplateChild } from './template-child.ts';

export interface TemplateLimits extends QueueLimits {
  readonly sourceLengthMax: number;
  readonly outputLengthMax: number;
  /** Queue and deadline for one prompt. */
  readonly renderMs: number;
  readonly heapMb: number;
}

const DEFAULT_LIMITS: TemplateLimits = {
  sourceLengthMax: 256 * 1024, // the longest published ones have 20 kB
  outputLengthMax: 8 * 1024 * 1024, // more than any context
  renderMs: 2_000, // a long conversation takes 20 ms
  heapMb: 128,
  waitingMax: 256,
  waitingOfOneMax: 64,
  waitMs: 30_000,
};

export interface TemplateSandbox {
  /** Throws `invalid_request` (the template's fault), `too_many_requests`, `engine_unavailable`, `cancelled`. */
  render(
    source: string,
    namedTokens: ReadonlyMap<string, string>,
    request: RenderRequest,
    by: OnBehalf,
  ): Promise<string>;
  close(): Promise<void>;
}

export function createTemplateSandbox(given: Partial<TemplateLimits> = {}): TemplateSandbox {
  const limits = { ...DEFAULT_LIMITS, ...given };
  let child: TemplateChild | null = null;
  let closed = false;
  /** One at a time, so that each has its own deadline. */
  const queue = createTextQueue(limits, tooMany);

  async function run(call: Parameters<TemplateChild['ask']>[0]): Promise<string> {
    if (closed) throw unavailable('The server is stopping.');
    if (child === null || child.lost) child = openTemplateChild(limits);
    const rendered = await child.ask(call);
    if (typeof rendered === 'string') {
      await child.close();
      throw lossError(rendered);
    }
    if ('fault' in rendered) throw fault(rendered.fault, rendered.param);
    return rendered.text;
  }

  function lossError(loss: Loss): AppError {
    if (loss === 'late') return fault(`It took longer than ${limits.renderMs / 1000} s.`);
    if (loss === 'crashed') return fault(`It needs more than ${limits.heapMb} MB, or crashed.`);
    return unavailable('The process that renders chat templates ended unexpectedly.');
  }

  return {
    async render(source, namedTokens, request, by) {
      if (source.length > limits.sourceLengthMax)
        throw fault(`It has ${source.length} characters; at most ${limits.sourceLengthMax} are allowed.`);
      const call = { source, namedTokens, request, outputLengthMax: limits.outputLengthMax };
      return queue.run(by, () => run(call));
    },
    async close() {
      closed = true;
      await child?.close();
    },
  };
}

const fault = (reason: string, param = 'chat_template'): AppError =>
  new AppError('invalid_request', `The chat template of this request cannot be used. ${reason}`, { param });

const tooMany = (reason: string): AppError =>
  new AppError('too_many_requests', `The chat template of this request was not rendered. ${reason}`, {
    param: 'chat_template',
    retryAfterSeconds: 1,
  });

const unavailable = (reason: string): AppError =>
  new AppError('engine_unavailable', `The chat template of this request cannot be rendered now. ${reason} Try again.`, {
    retryAfterSeconds: 1,
  });
