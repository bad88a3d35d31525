import { createClient } from '@taskmesh/client';
import { render } from 'preact';
import { App } from './app.tsx';
import { isOfOperators, Operations } from './operations/operations.tsx';
import { currentRoute } from './route.ts';
import { consumeArrival } from './session/arrival.ts';
import { createConsoleStorage } from './session/console-storage.ts';

const COPIED = 'This tab is a copy of another one, which stays signed in. Sign in here as well to use both.';

const storage = createConsoleStorage();
const problem = (await storage.emptyCopy()) ? COPIED : undefined;
/** Users and operators have separate applications. Crossing over leaves the page, which asks about unsaved work. */
const isOperators = isOfOperators(currentRoute().name);
addEventListener('hashchange', () => isOfOperators(currentRoute().name) !== isOperators && location.reload());

function createApp() {
  const arrival = consumeArrival(storage);
  const client = createClient({ url: location.origin, storage });
  return <App client={client} storage={storage} arrival={arrival} problem={problem} />;
}

const root = document.getElementById('console');
if (root) render(isOperators ? <Operations /> : createApp(), root);
