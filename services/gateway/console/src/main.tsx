import { createClient } from '@taskmesh/client';
import { render } from 'preact';
import { Root } from './root.tsx';
import { takeArrival } from './session/arrival.ts';
import { createConsoleStorage } from './session/console-storage.ts';

const storage = createConsoleStorage();
const arrival = takeArrival(storage);
const client = createClient({ url: location.origin, storage });
const root = document.getElementById('console');
if (root) render(<Root client={client} storage={storage} arrival={arrival} />, root);
