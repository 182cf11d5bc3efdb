// Whether a stream's reader reads: not for `afterMs`, although there was something to read, and it is unread until the next
// event is taken. Knows nothing of what is read.

export interface ReadWatch {
  /** There is something to read. */
  offered(): void;
  /** The reader has come back for the next. */
  taken(): void;
  /** Nothing more comes: it counts as read. */
  close(): void;
}

export interface ReadWatchOptions {
  readonly afterMs: number;
  /** Is there still something, and nobody waiting for it? */
  readonly isBehind: () => boolean;
  readonly onChange: (isUnread: boolean) => void;
}

export function watchReader({ afterMs, isBehind, onChange }: ReadWatchOptions): ReadWatch {
  let timer: NodeJS.Timeout | null = null;
  let isUnread = false;
  let takenCount = 0;

  /** One timer per `afterMs`, not one per event. */
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
