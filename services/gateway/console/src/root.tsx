import type { Client } from '@taskmesh/client';
import { App } from './app.tsx';
import { isOfOperators, Operations } from './operations/operations.tsx';
import { useRoute } from './route.ts';
import type { ConsoleStorage } from './session/console-storage.ts';

/** People and operators come in by different doors: the address says which. */
export function Root({ client, storage }: { client: Client; storage: ConsoleStorage }) {
  const { name } = useRoute();
  return isOfOperators(name) ? <Operations /> : <App client={client} storage={storage} />;
}
