/** Builds the console, for an image; with --watch again after each change. The commands that run the product build it by themselves. */
import { provideConsole } from './provide.mjs';
import { watchSources } from './watch.mjs';

await provideConsole();
if (process.argv.includes('--watch')) watchSources();
