// Sends one streaming chat and reads it to its end.
import { Agent, request } from 'node:http';

export interface StreamAnswer {
  readonly status: number;
  readonly tokens: number;
  /** The stream ended with [DONE] and contains no error. */
  readonly complete: boolean;
  /** From the last text to the end of the answer. */
  readonly lastChunkMs: number;
}

/** Rejects if the connection breaks. `prefix`: of the path. */
export function askStream(
  { url, key }: { readonly url: string; readonly key: string },
  agent: Agent,
  fields: Readonly<Record<string, unknown>>,
  prefix = '',
): Promise<StreamAnswer> {
  const body = JSON.stringify({ ...fields, stream: true, stream_options: { include_usage: true } });
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const call = request(`${url}${prefix}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      const parts: Buffer[] = [];
      let lastTextAtMs = performance.now();
      response.on('data', (part: Buffer) => {
        parts.push(part);
        if (part.includes('"finish_reason":null')) lastTextAtMs = performance.now();
      });
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        resolve({
          status: response.statusCode!,
          tokens: Number(/"completion_tokens":(\d+)/.exec(text)?.[1] ?? 0),
          lastChunkMs: performance.now() - lastTextAtMs,
          complete: text.endsWith('data: [DONE]\n\n') && !text.includes('"error"'),
        });
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}
