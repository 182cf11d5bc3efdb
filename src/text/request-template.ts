// Chat templates that come with requests are programs of strangers. They run here, in the server's own thread: jinja/ has no access to
// anything but the conversation, and the budget below ends each after about 0.2 s.
import { systemClock } from '#base/clock';
import { AppError } from '#domain/errors';
import { createChatTemplate, type RenderRequest } from './chat-template.ts';
import type { BudgetLimits } from './jinja/budget.ts';
import { BudgetError } from './jinja/errors.ts';

/** The longest published ones have 20 kB. */
const SOURCE_LENGTH_MAX = 64 * 1024;
/** A conversation of a thousand messages takes two hundred thousand steps. */
const LIMITS: BudgetLimits = { stepsMax: 1_000_000, sizeMax: 8 * 1024 * 1024, depthMax: 100 };

/** Throws `invalid_request`: the template's fault. */
export function renderRequestTemplate(
  source: string,
  namedTokens: ReadonlyMap<string, string>,
  request: RenderRequest,
): string {
  if (source.length > SOURCE_LENGTH_MAX)
    throw unusable(`It has ${source.length} characters; at most ${SOURCE_LENGTH_MAX} are allowed.`);
  try {
    return createChatTemplate({ default: source }, namedTokens, systemClock, LIMITS).render(request);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isSpent = error.cause instanceof BudgetError;
    throw unusable(error.message, isSpent ? 'chat_template' : (error.param ?? 'chat_template'));
  }
}

const unusable = (reason: string, param = 'chat_template'): AppError =>
  new AppError('invalid_request', `The chat template of this request cannot be used. ${reason}`, { param });
