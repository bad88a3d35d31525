import { checkArguments } from './arguments.mjs';
import { readEnvFile } from './env-file.mjs';
import { main } from './failure.mjs';
import { ensureConsole, ensureInstalled } from './install.mjs';
import { launch } from './launch.mjs';

/** A command that runs the product: its arguments are checked, then what it needs is installed, then `file` is started. */
export function runProduct({ help, options, need = 'production', file }) {
  return main(async () => {
    const args = checkArguments(process.argv.slice(2), { help, options });
    if (!args) return 0;
    for (const problem of readEnvFile()) console.warn(problem);
    await ensureInstalled(need);
    await ensureConsole();
    return launch(file, args);
  });
}
