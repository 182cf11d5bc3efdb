// A line of a history that is too long keeps what is short in it. The library ends the stream of a run at the first refusal, without a
// word to its user: one long text, or the histograms of a large model, would cost every number that is logged after them.

/** Its longest values become texts that say how long they were, as few as that takes; null: that is not enough. */
export function fitLine(row: Readonly<Record<string, unknown>>, charactersMax: number): string | null {
  const values = new Map(Object.entries(row).map(([key, value]) => [key, JSON.stringify(value)]));
  const write = () => `{${[...values].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
  let over = write().length - charactersMax;
  for (const [key, text] of [...values].toSorted(([, a], [, b]) => b.length - a.length)) {
    if (over <= 0) break;
    const note = JSON.stringify(`not stored: ${text.length} characters of JSON`);
    values.set(key, note);
    over -= text.length - note.length;
  }
  return over <= 0 ? write() : null;
}
