// Reads server-sent events from a response body, without comments, as the HTML standard defines them (§ 9.2.6). An event that never
// ends is an error. The fields `event` and `retry` are ignored.
import { AnswerError } from './answers.ts';

export interface ServerSentEvent {
  readonly id: string | null;
  readonly data: string;
}

const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024; // an event that never ends must not fill the memory

export async function* readServerSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let id: string | null = null;
  let data: string[] = [];
  let characters = 0;
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data.length > 0) yield { id, data: data.join('\n') };
      [id, data, characters] = [null, [], 0];
      continue;
    }
    characters = checkLength(characters + line.length);
    const [, field, value] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line)!;
    if (field === 'data') data.push(value!);
    else if (field === 'id') id = value!;
  }
}

/** A line ends with LF, CR or both. An unfinished last line is dropped. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = '';
  let carry = ''; // a CR at the end of the received text: its LF may follow
  for await (const bytes of body) {
    const text = carry + decoder.decode(bytes, { stream: true });
    carry = text.endsWith('\r') ? '\r' : '';
    const [first, ...others] = (carry === '' ? text : text.slice(0, -1)).split(/\r\n|\n|\r/);
    line += first!;
    for (const next of others) {
      yield line;
      line = next;
    }
    checkLength(line.length);
  }
}

function checkLength(characters: number): number {
  if (characters > EVENT_CHARACTERS_MAX)
    throw new AnswerError(`a server-sent event is over ${EVENT_CHARACTERS_MAX} characters`);
  return characters;
}
