// Detects a silent peer: pings it, and closes the connection after three intervals without a sign of life. Both ends use it.
import type { WebSocket } from 'ws';

const SILENT_INTERVALS_MAX = 3;

/** `heard` is called at each sign of life. Once the socket is closed, the result says whether silence was the reason; it continues "The worker …". */
export function watchSocket(socket: WebSocket, intervalMs: number, heard: () => void = () => {}): () => string | null {
  let silentIntervals = 0;
  let silence: string | null = null;
  function alive(): void {
    silentIntervals = 0;
    heard();
  }
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, alive);
  const timer = setInterval(() => {
    if (silentIntervals++ < SILENT_INTERVALS_MAX) return void socket.ping();
    silence = `was silent for ${SILENT_INTERVALS_MAX * intervalMs} ms`;
    socket.terminate();
  }, intervalMs);
  socket.once('close', () => clearInterval(timer));
  return () => silence;
}
