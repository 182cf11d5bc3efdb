// An unused port of this machine, for processes that need a number.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** The requested port, unless it is in use. */
export async function freePort(wished = 0): Promise<number> {
  const probe = createServer().listen(wished, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return freePort();
  }
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
