// Detects a stream that is not being read: after `afterMs` with an event to read and no reader, it counts as unread until the next
// event is taken. Does not know what the events are.

export interface ReadWatch {
  /** There is an event to read. */
  offered(): void;
  /** The reader has asked for the next event. */
  taken(): void;
  /** No more events will come; the stream counts as read. */
  close(): void;
}

export interface ReadWatchOptions {
  readonly afterMs: number;
  /** Whether an event is waiting and no reader is waiting for it. */
  readonly isBehind: () => boolean;
  readonly onChange: (isUnread: boolean) => void;
}

export function watchReader({ afterMs, isBehind, onChange }: ReadWatchOptions): ReadWatch {
  let timer: NodeJS.Timeout | null = null;
  let isUnread = false;
  let takenCount = 0;

  /** Sets one timer per `afterMs`, not one per event. */
  function arm(): void {
    const before = takenCount;
    timer = setTimeout(() => {
      timer = null;
      if (!isBehind()) return;
      if (takenCount !== before) arm();
      else change(true);
    }, afterMs);
    timer.unref();
  }

  function change(to: boolean): void {
    if (isUnread === to) return;
    isUnread = to;
    onChange(to);
  }

  return {
    offered() {
      if (!isUnread && timer === null) arm();
    },
    taken() {
      takenCount++;
      change(false);
    },
    close() {
      if (timer) clearTimeout(timer);
      timer = null;
      change(false);
    },
  };
}
