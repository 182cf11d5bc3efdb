// Where the package keeps the model that it brings along.
import { fileURLToPath } from 'node:url';

export const STARTER_DIRECTORY = fileURLToPath(new URL('../models/starter', import.meta.url));
