/** Builds the console for an image; with --watch, rebuilds after each change. Commands that run the product build it themselves. */
import { utimesSync, watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { provideConsole } from './provide.mjs';
import { watchedFolders } from './sources.mjs';

await provideConsole();
if (process.argv.includes('--watch')) watchSources();

/** Node restarts the program that serves the console when this file of it changes. */
const SERVED_BY = fileURLToPath(new URL('../../src/pages/pages.ts', import.meta.url));
/** Editors may write a file in several steps. */
const QUIET_MS = 100;

/** Rebuilds after each change of a source and restarts the serving program, for as long as the parent process lives. */
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
