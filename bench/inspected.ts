// One connection to the inspector of a Node process: calls of its protocol, and expressions that run in its main thread.
import { WebSocket } from 'ws';

export interface Inspected {
  call(method: string, params?: object): Promise<unknown>;
  /** A plain value. */
  evaluate(expression: string): Promise<unknown>;
  close(): void;
}

/** Rejects if the process has ended. */
export async function inspect(url: string): Promise<Inspected> {
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 2 ** 30 });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const open = new Map<number, (answer: { result?: unknown; error?: { message: string } } | null) => void>();
  let count = 0;
  socket.on('message', (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as { id?: number; result?: unknown; error?: { message: string } };
    if (answer.id !== undefined) open.get(answer.id)?.(answer);
  });
  socket.on('error', () => {});
  socket.on('close', () => open.forEach((answer) => answer(null)));
  const call = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++count;
      open.set(id, (answer) => {
        open.delete(id);
        if (answer === null) reject(new Error(`${url} has gone`));
        else if (answer.error) reject(new Error(`${method}: ${answer.error.message}`));
        else resolve(answer.result);
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
  return {
    call,
    async evaluate(expression) {
      const { result, exceptionDetails: thrown } = (await call('Runtime.evaluate', {
        expression,
        returnByValue: true,
      })) as { result: { value: unknown }; exceptionDetails?: { exception?: { description?: string } } };
      if (thrown) throw new Error(thrown.exception?.description ?? 'the expression threw');
      return result.value;
    },
    close: () => socket.terminate(),
  };
}
