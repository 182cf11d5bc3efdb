// `whetstone chat`
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { say, type Remote, type RemoteFlags } from './remote.ts';

interface ChatFlags extends RemoteFlags {
  readonly model?: string;
  readonly system?: string;
  readonly temperature?: string;
  readonly maxTokens?: string;
}

export function addChat(program: Command, remote: Remote): void {
  remote
    .command(program, 'chat [message]')
    .description('say something to a model; without a message: a conversation')
    .option('--model <name>', 'base model, or entity/project/name[@step] (default: the server’s)')
    .option('--system <text>', 'system message')
    .option('--temperature <number>')
    .option('--max-tokens <number>')
    .action(async (message: string | undefined, flags: ChatFlags) => {
      const client = remote.connect(flags);
      const messages: { role: string; content: string }[] = flags.system
        ? [{ role: 'system', content: flags.system }]
        : [];
      const answer = async (content: string) => {
        messages.push({ role: 'user', content });
        let text = '';
        for await (const piece of client.chatStream({
          messages,
          ...(flags.model ? { model: flags.model } : {}),
          ...(flags.temperature ? { temperature: Number(flags.temperature) } : {}),
          ...(flags.maxTokens ? { max_tokens: Number(flags.maxTokens) } : {}),
        })) {
          process.stdout.write(piece);
          text += piece;
        }
        say('');
        messages.push({ role: 'assistant', content: text });
      };
      if (message !== undefined) return answer(message);
      const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: '> ' });
      lines.prompt();
      for await (const line of lines) {
        if (line.trim() !== '') await answer(line);
        lines.prompt();
      }
    });
}
