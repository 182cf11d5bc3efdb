// Times: how long something took, and how long ago it was. The title has the exact moment.
import { useEffect, useState } from 'preact/hooks';

/** `45 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ] as const;
  const first = parts.findIndex(([size]) => whole >= size);
  if (first === -1) return seconds > 0 ? '< 1 s' : '0 s';
  const [size, unit] = parts[first]!;
  const next = parts[first + 1];
  const rest = next ? Math.floor((whole % size) / next[0]) : 0;
  return `${Math.floor(whole / size)} ${unit}${next && rest > 0 ? ` ${rest} ${next[1]}` : ''}`;
}

const A_MINUTE_S = 60;

export function Ago({ at }: { at: string }) {
  const nowMs = useNow(10_000);
  const seconds = (nowMs - Date.parse(at)) / 1000;
  const coarse = duration(seconds).split(' ').slice(0, 2).join(' ');
  return (
    <time dateTime={at} title={exact(at)}>
      {seconds < A_MINUTE_S ? 'just now' : `${coarse} ago`}
    </time>
  );
}

/** `2026-11-21 14:03:20`, in the user's time zone. */
function exact(at: string): string {
  const date = new Date(at);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

/** Ticks while the page is visible. */
export function useNow(everyMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => void (document.hidden || setNowMs(Date.now())), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
