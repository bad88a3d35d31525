import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { ROOT } from './paths.mjs';

/** Takes the settings of `.env`, where there is one; what the environment has already stays. */
export function readEnvFile() {
  const file = join(ROOT, '.env');
  if (!existsSync(file)) return;
  if (!process.loadEnvFile) throw new Failure('To read the file .env, Node 20.12 or newer is needed.');
  process.loadEnvFile(file);
}
