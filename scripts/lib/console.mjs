/** Builds the page at `/` when there is no build of these sources. */
export async function ensureConsole() {
  // By now what it imports is installed.
  const { provideConsole } = await import('../../services/gateway/console/build/provide.mjs');
  await provideConsole();
}
