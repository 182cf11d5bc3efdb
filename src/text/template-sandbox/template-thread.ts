// Entry of the thread in which templates of requests are rendered: one at a time, in the order in which they come.
import { parentPort } from 'node:worker_threads';
import { systemClock } from '#base/clock';
import { AppError } from '#domain/errors';
import { createChatTemplate, type RenderRequest } from '../chat-template.ts';

export interface RenderCall {
  readonly id: number;
  readonly source: string;
  readonly namedTokens: ReadonlyMap<string, string>;
  readonly request: RenderRequest;
  readonly outputLengthMax: number;
}

export type Rendered =
  | { readonly id: number; readonly text: string }
  | { readonly id: number; readonly fault: string; readonly param: string };

const port = parentPort!;
port.on('message', (call: RenderCall) => port.postMessage(render(call)));

function render({ id, source, namedTokens, request, outputLengthMax }: RenderCall): Rendered {
  try {
    const text = createChatTemplate({ default: source }, namedTokens, systemClock).render(request);
    if (text.length <= outputLengthMax) return { id, text };
    return { id, fault: `It writes ${text.length} characters; at most ${outputLengthMax} are read.`, param: 'chat_template' };
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { id, fault, param: (error instanceof AppError ? error.param : null) ?? 'chat_template' };
  }
} // prettier-ignore
