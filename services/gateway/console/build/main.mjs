/** Builds the console for an image; the commands that run the product do so by themselves. */
import { provideConsole } from './provide.mjs';

await provideConsole();
