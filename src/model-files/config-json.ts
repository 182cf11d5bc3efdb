// Values of config.json by key, or a refusal that names the file, the key and its value.
import { AppError } from '#domain/errors';
import { shown as shownValue } from './shown.ts';

export type ConfigJson = Readonly<Record<string, unknown>>;

/** Ten times the layers of the largest published models. */
export const LAYERS_MAX = 2_048;

/** Positions of the longest published context, times ten. */
export const POSITIONS_MAX = 134_217_728;

export interface ConfigReader {
  readonly json: ConfigJson;
  refuse(problem: string): AppError;
  /** `fallback` if the key is missing or null. */
  positive(key: string, fallback?: number): number;
  /** A whole number from 1 to `most`. */
  count(key: string, most: number, fallback?: number): number;
  countOrNull(key: string, most: number): number | null;
  positiveOrNull(key: string): number | null;
  flag(key: string): boolean;
  /** A list, for example one number per layer or frequency; null if the key is missing or null. */
  listOrNull<T>(key: string, length: number, isItem: (value: unknown) => value is T): readonly T[] | null;
  /** Throws if the key holds anything but one of these. */
  only(key: string, allowed: readonly unknown[], reason: string): void;
}

export function configReader(json: ConfigJson, path: string): ConfigReader {
  const refuse = (problem: string) => new AppError('bad_model_files', `${path}: ${problem}`);
  const shown = (key: string): string => shownValue(json[key]);
  const positive = (key: string, fallback?: number): number => {
    const value = json[key] ?? fallback;
    if (isNumber(value) && value > 0) return value;
    throw refuse(`${key} must be a positive number, got ${shown(key)}.`);
  };
  const count = (key: string, most: number, fallback?: number): number => {
    const value = positive(key, fallback);
    if (Number.isInteger(value) && value <= most) return value;
    const problem = (json[key] ?? null) === null ? `computes to ${value}` : `is ${shown(key)}`;
    throw refuse(`${key} must be a whole number from 1 to ${most}, but ${problem}.`);
  };
  return {
    json,
    refuse,
    positive,
    count,
    countOrNull: (key, most) => ((json[key] ?? null) === null ? null : count(key, most)),
    positiveOrNull: (key) => ((json[key] ?? null) === null ? null : positive(key)),
    flag: (key) => json[key] === true,
    listOrNull<T>(key: string, length: number, isItem: (value: unknown) => value is T) {
      const value = json[key] ?? null;
      if (value === null) return null;
      if (Array.isArray(value) && value.length === length && value.every(isItem)) return value;
      throw refuse(`${key} must be a list of ${length} valid values, got ${shown(key)}.`);
    },
    only(key, allowed, reason) {
      if (!allowed.includes(json[key] ?? null)) throw refuse(`${key} ${shown(key)} is not supported: ${reason}.`);
    },
  };
}

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
