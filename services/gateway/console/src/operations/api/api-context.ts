import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { OperatorsApi } from './operators-api.ts';

export const ApiContext = createContext<OperatorsApi | undefined>(undefined);

export function useApi(): OperatorsApi {
  const api = useContext(ApiContext);
  if (!api) throw new Error('There is no operator around this component.');
  return api;
}
