import type { Client } from '@taskmesh/client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export const ClientContext = createContext<Client | undefined>(undefined);

export function useClient(): Client {
  const client = useContext(ClientContext);
  if (!client) throw new Error('There is no client around this component.');
  return client;
}
