// What the server logs, and in which form.
import { LOG_FORMATS, LOG_LEVELS } from '#base/log';
import { setting } from './setting.ts';
import { choice } from './value-types.ts';

export const LOG_SETTINGS = {
  logLevel: setting({
    flag: '--log-level <level>',
    variable: 'WHETSTONE_LOG_LEVEL',
    value: choice(LOG_LEVELS),
    default: 'info',
    help: 'how much to log, on stderr',
  }),
  logFormat: setting({
    flag: '--log-format <format>',
    variable: 'WHETSTONE_LOG_FORMAT',
    value: choice(LOG_FORMATS),
    default: 'text',
    help: 'text for people, or JSON lines for programs',
  }),
};
