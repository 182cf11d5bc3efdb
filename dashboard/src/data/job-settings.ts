// Settings of a job that the page of an artifact offers, and the configuration that they become. Pure.

export type Kind = 'sft' | 'dpo';

export const SETTINGS = [
  { name: 'epochs', label: 'Epochs', min: 1, max: 1_000, step: 1 },
  { name: 'learning_rate', label: 'Learning rate', min: 0, max: 1, step: 'any' },
  { name: 'batch_size', label: 'Batch size', min: 1, max: 65_536, step: 1 },
  { name: 'validation_split', label: 'Share held out', min: 0, max: 0.5, step: 'any' },
] as const;

/** As typed. */
export type Settings = Readonly<Partial<Record<(typeof SETTINGS)[number]['name'], string>>>;

/** Without those that are empty. */
export const jobConfigOf = (settings: Settings): Record<string, number> =>
  Object.fromEntries(
    SETTINGS.flatMap(({ name }) => {
      const text = settings[name]?.trim() ?? '';
      return text === '' ? [] : [[name, Number(text)]];
    }),
  );
