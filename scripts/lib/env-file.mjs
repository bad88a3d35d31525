import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { ROOT } from './paths.mjs';

/** As YAML has it. Node skips such a line without a word. */
const WITH_COLON = /^\s*([A-Z][A-Z0-9_]*)\s*:\s/;

/** Takes the settings of `.env`, where there is one; what the environment has already stays. */
export function readEnvFile() {
  const file = join(ROOT, '.env');
  if (!existsSync(file)) return;
  if (!process.loadEnvFile) throw new Failure('To read the file .env, Node 20.12 or newer is needed.');
  checkLines(readLines(file));
  process.loadEnvFile(file);
}

function readLines(file) {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    throw new Failure(
      `The settings in ${file} cannot be read (${error.code}). Make it a file that your user may read, or remove it.`,
    );
  }
}

/** Without the value: it may be a secret. */
function checkLines(lines) {
  const problems = lines.flatMap((line, index) => {
    const [, name] = WITH_COLON.exec(line) ?? [];
    return name ? [`  - line ${index + 1}: write ${name}=… instead of ${name}: …`] : [];
  });
  if (problems.length > 0) throw new Failure(`The file .env has lines that set nothing:\n${problems.join('\n')}`);
}
