// Requests that ask for another protocol on their connection. WebSockets go to the endpoints that accept them, through the same hooks
// as any request; all other upgrades (HTTP/2 by Java and curl) are ignored, as HTTP allows: with a listener for upgrades, Node would
// otherwise no longer read such requests.
import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { WORKER_PROTOCOL } from '#domain/worker-protocol';

const GOING_AWAY = 1001;

export const asksForSocket = ({ upgrade, connection }: IncomingHttpHeaders): boolean =>
  upgrade?.toLowerCase() === 'websocket' && /\bupgrade\b/i.test(connection ?? '');

/** `addRoutes` is called when routes can accept sockets. */
export function takeUpgrades(app: FastifyInstance, addRoutes: (app: FastifyInstance) => void): void {
  const websockets = new EventEmitter();
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (asksForSocket(request.headers)) websockets.emit('upgrade', request, socket, head);
    else readAgain(app.server, request, socket, head);
  });
  void app.register(websocket, {
    options: {
      server: websockets as Server,
      maxPayload: WORKER_PROTOCOL.frameBytesMax,
      perMessageDeflate: false, // a small message could decompress to gigabytes
      handleProtocols: (offered) => (offered.has(WORKER_PROTOCOL.subprotocol) ? WORKER_PROTOCOL.subprotocol : false),
    },
    preClose(done) {
      for (const client of app.websocketServer.clients) client.close(GOING_AWAY, 'the server is stopping');
      done();
    },
  });
  void app.register(async (scope) => addRoutes(scope));
}

/** Returns the connection to the server, with the request as if it had not asked for an upgrade. */
function readAgain(
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
) {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!];
    if (!/^(upgrade|http2-settings|connection)$/i.test(name)) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
