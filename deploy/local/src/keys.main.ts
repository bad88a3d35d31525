import { runCommand, say, UsageError } from './command.ts';
import { ensureKeyFiles } from './stack/keys.ts';

/** Makes the keys of an installation in the folder that is named, and leaves those that are there. */
await runCommand({
  async start() {
    const dir = process.argv[3];
    if (!dir) throw new UsageError('keys: name the folder for the keys.');
    await ensureKeyFiles(dir);
    say(`The keys are in ${dir}.`);
  },
});
