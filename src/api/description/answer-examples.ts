// The server's answers to the examples that test/service/clients/described.test.ts sends; the API reference shows them. Lists are
// shortened.
import { ANSWERS as CHAT } from './answer-examples/chat.ts';
import { ANSWERS as SERVICE } from './answer-examples/service.ts';
import { ANSWERS as TINKER } from './answer-examples/tinker.ts';
import { ANSWERS as TRAINING } from './answer-examples/training.ts';
import { ANSWERS as WANDB } from './answer-examples/wandb.ts';

/** By operation (method and path), then by content type for a success, else by status. */
export const ANSWER_EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ...CHAT,
  ...TRAINING,
  ...SERVICE,
  ...TINKER,
  ...WANDB,
};
