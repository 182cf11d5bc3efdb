// The directory of the model that the package includes.
import { fileURLToPath } from 'node:url';

export const STARTER_DIRECTORY = fileURLToPath(new URL('../../models/starter', import.meta.url));
