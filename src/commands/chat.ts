// `whetstone chat`: sends messages to a model and prints its answers; on stderr, what it thinks before them, and that one was cut off.
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { counted } from '#base/counted';
import { UsageError } from '#domain/errors';
import { decimal, wholeNumber } from './numbers.ts';
import { note, say, withJson, type JsonFlag } from './output.ts';
import type { Remote, RemoteFlags } from './remote.ts';
import { typing, writeError, writeOut } from './terminal.ts';

interface ChatFlags extends RemoteFlags, JsonFlag {
  readonly model?: string;
  readonly system?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
}

export function addChat(program: Command, remote: Remote): void {
  withJson(remote.command(program, 'chat [message]'))
    .description('send a message to a model; without a message, start a conversation')
    .option('--model <name>', 'base model, or [entity/]project/name[:stepN] (default: the first that the server hosts)')
    .option('--system <text>', 'system message')
    .option(
      '--temperature <number>',
      'randomness from 0 to 2; 0 always takes the most likely token (default: the model’s own, or 1)',
      decimal(0, 2),
    )
    .option('--max-tokens <count>', 'maximum tokens of an answer (default: what fits into the context)', wholeNumber(1))
    .action(async (message: string | undefined, flags: ChatFlags) => {
      if (message?.trim() === '') throw new UsageError('The message is empty: write what the model is asked.');
      const client = remote.connect(flags);
      const messages: { role: string; content: string }[] = flags.system
        ? [{ role: 'system', content: flags.system }]
        : [];
      const answer = async (content: string) => {
        messages.push({ role: 'user', content });
        let text = '';
        const request = {
          messages,
          ...(flags.model ? { model: flags.model } : {}),
          ...(flags.temperature === undefined ? {} : { temperature: flags.temperature }),
          ...(flags.maxTokens === undefined ? {} : { max_tokens: flags.maxTokens }),
        };
        if (flags.json) {
          const completion = await client.chat(request);
          messages.push({ role: 'assistant', content: completion.choices[0]?.message.content ?? '' });
          return say(JSON.stringify(completion));
        }
        let thinks = false;
        let finish: string | null = null;
        const listeners = {
          onReasoning(piece: string) {
            thinks = true;
            writeError(piece);
          },
          onFinish: (reason: string) => void (finish = reason),
        };
        for await (const piece of client.chatStream(request, undefined, listeners)) {
          if (thinks && text === '') note('');
          writeOut(piece);
          text += piece;
        }
        say('');
        if (finish === 'length') note(cutOff(flags.maxTokens));
        messages.push({ role: 'assistant', content: text });
      };
      if (message !== undefined) return answer(message);
      const lines = createInterface({ ...typing(), prompt: process.stdin.isTTY ? '> ' : '' });
      lines.once('SIGINT', () => process.emit('SIGINT')); // readline receives Ctrl-C in place of the process
      lines.prompt();
      for await (const line of lines) {
        if (line.trim() !== '') await answer(line);
        lines.prompt();
      }
      if (process.stdin.isTTY) note(''); // after the last prompt
    });
}

const cutOff = (maxTokens: number | undefined): string =>
  maxTokens === undefined
    ? 'The answer was cut off: the context is full, or the model has a limit of its own, which --max-tokens changes.'
    : `The answer was cut off after ${counted(maxTokens, 'token')}: raise --max-tokens.`;
