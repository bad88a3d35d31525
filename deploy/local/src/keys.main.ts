import { runCommand, printLine, UsageError } from './command.ts';
import { ensureKeyFiles } from './stack/keys.ts';

/** Creates the keys of an installation in the given folder, and keeps existing ones. */
await runCommand({
  async start() {
    const dir = process.argv[3];
    if (!dir) throw new UsageError('keys: name the folder for the keys.');
    await ensureKeyFiles(dir);
    printLine(`The keys are in ${dir}.`);
  },
});
