// A promise with a deadline.

/** What `late` gives or throws, when `work` takes longer than `ms`; what becomes of `work` then is nobody's concern. */
export function within<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([work, deadline.then(late)]).finally(() => clearTimeout(timer));
}
