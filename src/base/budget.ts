// What one request may still cost, in a unit that the caller chooses: cells, fields, nodes, bytes. Whoever decodes or resolves spends it
// before the work, so that a request ends with a refusal and not with the memory of the server. Knows nothing of requests.

export interface Budget {
  readonly spent: number;
  /** Throws the refusal once more than `most` was spent altogether. */
  spend(amount: number): void;
}

export function createBudget(most: number, refusal: (most: number) => Error): Budget {
  let spent = 0;
  return {
    get spent() {
      return spent;
    },
    spend(amount) {
      spent += amount;
      if (spent > most) throw refusal(most);
    },
  };
}
