import { createClient } from '@taskmesh/client';
import { render } from 'preact';
import { App, type AppProps } from './app.tsx';
import { isOfOperators, Operations } from './operations/operations.tsx';
import { useRoute } from './route.ts';
import { consumeArrival } from './session/arrival.ts';
import { createConsoleStorage } from './session/console-storage.ts';

/** Users and operators have separate applications. The address decides which one is shown. */
function Root(props: AppProps) {
  const { name } = useRoute();
  return isOfOperators(name) ? <Operations /> : <App {...props} />;
}

const COPIED = 'This tab is a copy of another one, which stays signed in. Sign in here as well to use both.';

const storage = createConsoleStorage();
const problem = (await storage.emptyCopy()) ? COPIED : undefined;
const arrival = consumeArrival(storage);
const client = createClient({ url: location.origin, storage });
const root = document.getElementById('console');
if (root) render(<Root client={client} storage={storage} arrival={arrival} problem={problem} />, root);
