import { utimesSync, watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { provideConsole } from './provide.mjs';
import { watchedFolders } from './sources.mjs';

/** A file of the program that serves the console: Node runs it again when this one changes. */
const SERVED_BY = fileURLToPath(new URL('../../src/pages/console/console.ts', import.meta.url));
/** Editors write a file in several steps. */
const QUIET_MS = 100;

/** Builds anew after each change of a source, and has whoever serves it start again, for as long as the parent lives. */
export function watchSources() {
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
