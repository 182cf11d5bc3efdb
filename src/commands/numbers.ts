// Parses numbers on the command line. The error says the rule; commander puts the flag's name before it.
import { InvalidArgumentError } from 'commander';

export const wholeNumber =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (/^-?\d+$/.test(text) && value >= min && value <= max) return value;
    const upTo = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be a whole number${upTo}.`);
  };

export const decimal =
  (min: number, max = Infinity) =>
  (text: string): number => {
    const value = Number(text);
    if (/^-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) && value >= min && value <= max) return value;
    const upTo = max === Infinity ? `, ${min} or more` : ` from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be a number${upTo}, such as 0.5 or 1e-4.`);
  };
