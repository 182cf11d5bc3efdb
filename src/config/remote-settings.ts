// Settings of all commands that talk to a server over HTTP. Those of the server are settings.ts.
import { setting } from './setting.ts';
import { SETTINGS } from './settings.ts';
import { apiKey, text } from './value-types.ts';

export const DEFAULT_URL = `http://${SETTINGS.host.default}:${SETTINGS.port.default}`;

export const REMOTE_SETTINGS = {
  url: setting({
    flag: '--url <url>',
    variable: 'WHETSTONE_URL',
    value: text,
    default: null,
    defaultText: `on the server’s own machine, the address of the server of this data directory, else ${DEFAULT_URL}`,
    help: 'address of the server',
  }),
  key: setting({
    flag: '--key <key>',
    variable: 'WHETSTONE_API_KEY',
    value: apiKey,
    default: null,
    defaultText: 'on the server’s own machine, the first key in its data directory',
    help: 'API key',
    secret: true,
  }),
};
