// Server-sent events out of a response body: whole events, comments left out. Enough of the standard for this server.

export interface ServerSentEvent {
  readonly id: string | null;
  readonly data: string;
}

const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024; // a server that never ends an event must not fill the memory

export async function* readServerSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let pending = '';
  for await (const bytes of body) {
    pending = (pending + decoder.decode(bytes, { stream: true })).replaceAll('\r\n', '\n');
    const events = pending.split('\n\n');
    pending = events.pop()!;
    if (pending.length > EVENT_CHARACTERS_MAX)
      throw new Error(`a server-sent event is over ${EVENT_CHARACTERS_MAX} characters`);
    for (const event of events) {
      const fields = event.split('\n').filter((line) => line !== '' && !line.startsWith(':'));
      const data = fields.flatMap((line) => valueOf(line, 'data'));
      if (data.length > 0)
        yield { id: fields.flatMap((line) => valueOf(line, 'id')).at(-1) ?? null, data: data.join('\n') };
    }
  }
}

function valueOf(line: string, field: string): string[] {
  if (!line.startsWith(`${field}:`)) return [];
  const value = line.slice(field.length + 1);
  return [value.startsWith(' ') ? value.slice(1) : value];
}
