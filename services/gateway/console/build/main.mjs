/** Builds the console for an image; with --watch, rebuilds after each change. Commands that run the product do so themselves. */
import { utimesSync, watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { provideConsole } from './provide.mjs';
import { watchedFolders } from './sources.mjs';

await provideConsole();
if (process.argv.includes('--watch')) watchSources();

/** A file of the program that serves the console; touching it makes Node restart the program. */
const SERVED_BY = fileURLToPath(new URL('../../src/pages/pages.ts', import.meta.url));
/** Editors may write a file in several steps. */
const QUIET_MS = 100;

/** Rebuilds the console and restarts the serving program after each source change, until the parent process ends. */
function watchSources() {
  let timer;
  const rebuild = async () => {
    try {
      await provideConsole();
      utimesSync(SERVED_BY, new Date(), new Date());
    } catch (error) {
      process.stderr.write(`The console was not built: ${error.message}\n`);
    }
  };
  for (const folder of watchedFolders())
    watch(folder, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(rebuild, QUIET_MS);
    });
  process.on('disconnect', () => process.exit());
}
