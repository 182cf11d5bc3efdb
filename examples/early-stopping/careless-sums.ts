// Sums as a careless person would answer them: every fourth answer is wrong.

/** A line of training data: the `i`th of many sums. */
export function carelessSum(question: string, i: number): string {
  const [a, b] = question.match(/\d+/g)!.map(Number) as [number, number];
  const isWrong = i % 4 === 3;
  return JSON.stringify({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: String(isWrong ? a + b + 1 + (i % 7) : a + b) },
    ],
  });
}
