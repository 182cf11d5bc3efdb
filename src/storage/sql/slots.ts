// At most so many at a time; the others wait in order of arrival, each with a deadline.

export interface Slots {
  /** Resolves when there is room; rejects with the refusal after the deadline. Each resolved call is followed by one `leave`. */
  enter(): Promise<void>;
  leave(): void;
}

export function createSlots(max: number, waitMs: number, refusal: () => Error): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    enter() {
      if (taken < max) {
        taken++;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const next = () => {
          clearTimeout(late);
          resolve(); // the place of the one that left
        };
        const late = setTimeout(() => {
          waiting.splice(waiting.indexOf(next), 1);
          reject(refusal());
        }, waitMs);
        waiting.push(next);
      });
    },
    leave() {
      const next = waiting.shift();
      if (next) next();
      else taken--;
    },
  };
}
