// Paths of users, as a shell reads them.
import { homedir } from 'node:os';

/** `~/` is the home directory, where no shell has replaced it: in `--data=~/whetstone`, in files of systemd and Compose. */
export const atHome = (path: string): string => path.replace(/^~(?=\/|$)/, homedir());
