// Entry point of the process that renders templates of requests, one at a time. It has little memory, none of the server's environment
// variables, and never outlives the server: an idle one ends with the channel, a busy one by its own deadline.
import { Script } from 'node:vm';
import { systemClock } from '#base/clock';
import { lowerPriority } from '#base/lower-priority';
import { invariant } from '#base/invariant';
import { AppError } from '#domain/errors';
import { createChatTemplate, type RenderRequest } from '../chat-template.ts';

export interface RenderCall {
  readonly source: string;
  readonly namedTokens: ReadonlyMap<string, string>;
  readonly request: RenderRequest;
  readonly outputLengthMax: number;
  /** Longer than the parent waits: for a parent that is gone. */
  readonly orphanMs: number;
}

export type Rendered = { readonly text: string } | { readonly fault: string; readonly param: string };

export type FromTemplateProcess = 'ready' | Rendered;

const IN_TIME = new Script('render()');

lowerPriority();
process.on('SIGINT', () => {}); // sent to the whole process group: this process ends with the channel instead
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (call: RenderCall) => {
  try {
    say(IN_TIME.runInNewContext({ render: () => render(call) }, { timeout: call.orphanMs }) as Rendered);
  } catch {
    process.exit(1); // the parent has not ended it in time
  }
});
say('ready');

function say(message: FromTemplateProcess): void {
  invariant(process.connected, 'a template process must be started by fork');
  process.send!(message, () => {});
}

function render({ source, namedTokens, request, outputLengthMax }: RenderCall): Rendered {
  try {
    const text = createChatTemplate({ default: source }, namedTokens, systemClock).render(request);
    if (text.length <= outputLengthMax) return { text };
    return {
      fault: `Its output has ${text.length} characters; at most ${outputLengthMax} are allowed.`,
      param: 'chat_template',
    };
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { fault, param: (error instanceof AppError ? error.param : null) ?? 'chat_template' };
  }
}
