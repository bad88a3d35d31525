/** Builds the console for an image; with --watch, rebuilds after each change. Commands that run the product build it themselves. */
import { provideConsole } from './provide.mjs';
import { watchSources } from './watch.mjs';

await provideConsole();
if (process.argv.includes('--watch')) watchSources();
