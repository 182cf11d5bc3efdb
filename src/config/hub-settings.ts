// Where models of the Hugging Face Hub come from and where they are kept: the variables that all its tools read, with its rules for
// which goes before which.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readSettings, setting, type Environment, type ValuesOf } from './setting.ts';
import { directory, httpUrl, text, yesOrNo } from './value-types.ts';

/** Tens of gigabytes over a slow line: as long as bytes come. */
const DOWNLOAD_MS = 86_400_000;

/** Of all commands that read models. */
export const HUB_SETTINGS = {
  hubCache: setting({
    variable: 'HF_HUB_CACHE',
    value: directory,
    default: null,
    defaultText: 'hub in HF_HOME',
    help: 'cache of models from the Hugging Face Hub, in the layout of its own tools; cached models are not downloaded again',
  }),
  hubHome: setting({
    variable: 'HF_HOME',
    value: directory,
    default: null,
    defaultText: 'huggingface in XDG_CACHE_HOME',
    help: 'directory of the cache, and of the token that a login to the Hub has stored',
  }),
  cacheHome: setting({
    variable: 'XDG_CACHE_HOME',
    value: directory,
    default: join(homedir(), '.cache'),
    defaultText: '~/.cache',
    help: 'where programs keep files that they can download again',
  }),
  hubToken: setting({
    variable: 'HF_TOKEN',
    value: text,
    default: null,
    defaultText: 'token in HF_HOME',
    help: 'token for models of the Hub that require one',
    secret: true,
  }),
  hubTokenOfOldTools: setting({
    variable: 'HUGGING_FACE_HUB_TOKEN',
    value: text,
    default: null,
    defaultText: 'none',
    help: 'the same, under the name that older tools read; HF_TOKEN wins',
    secret: true,
  }),
  hubEndpoint: setting({
    variable: 'HF_ENDPOINT',
    value: httpUrl,
    default: 'https://huggingface.co',
    help: 'address of another Hub',
    secret: true, // when it is refused, it may hold a password
  }),
  hubOffline: setting({
    variable: 'HF_HUB_OFFLINE',
    value: yesOrNo,
    default: false,
    defaultText: '0',
    help: '1: never contact the Hub; a model that is not in the cache is refused',
  }),
};

export interface HubConfig {
  readonly cacheDirectory: string;
  readonly token: string | null;
  /** Read where there is no token. */
  readonly tokenPath: string;
  readonly endpoint: string;
  readonly offline: boolean;
  /** Of one model. */
  readonly downloadMs: number;
}

export const readHubConfig = (env: Environment): HubConfig => hubConfig(readSettings(HUB_SETTINGS, {}, env));

export function hubConfig(settings: ValuesOf<typeof HUB_SETTINGS>): HubConfig {
  const home = settings.hubHome ?? join(settings.cacheHome, 'huggingface');
  return {
    cacheDirectory: settings.hubCache ?? join(home, 'hub'),
    token: settings.hubToken ?? settings.hubTokenOfOldTools,
    tokenPath: join(home, 'token'),
    endpoint: settings.hubEndpoint.replace(/\/+$/, ''),
    offline: settings.hubOffline,
    downloadMs: DOWNLOAD_MS,
  };
}
