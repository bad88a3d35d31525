import { TaskmeshError, type Client } from '@taskmesh/client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useReading } from '../requests/use-reading.ts';
import { keepErrand, type Arrival, type Errand } from './arrival.ts';
import type { ConsoleStorage } from './console-storage.ts';

/** The sign-in provider. */
export interface Provider {
  /** Null when there is none. Requested only once. */
  name(): Promise<string | null>;
  /** Leaves the page. @throws TaskmeshError when the provider is unreachable */
  go(errand: Errand): Promise<void>;
}

export function createProvider({ client, storage }: { client: Client; storage: ConsoleStorage }): Provider {
  let name: Promise<string | null> | undefined;
  return {
    async name() {
      if (!isSecureContext) return null; // browsers offer no SHA-256 to insecure pages
      name ??= client.signInProvider();
      try {
        return await name;
      } catch (error) {
        name = undefined;
        throw error;
      }
    },
    async go(errand) {
      keepErrand(storage, errand);
      const address = await client.beginProviderSignIn('/');
      await check(address);
      location.assign(address);
    },
  };
}

/** Checks the way to the provider first, because a failed navigation would show the browser's error page. */
async function check(address: string): Promise<void> {
  const response = await fetch(address, { redirect: 'manual' }).catch((error: unknown) => {
    throw new TaskmeshError('NETWORK', 'No answer.', { cause: error });
  });
  if (response.type === 'opaqueredirect') return;
  const retryAfterMs = Number(response.headers.get('retry-after') ?? 0) * 1_000;
  throw response.status === 429
    ? new TaskmeshError('RATE_LIMITED', 'Too many sign-ins.', { retryAfterMs })
    : new TaskmeshError('PROVIDER_AWAY', 'The provider cannot be reached at the moment. Please try again in a moment.');
}

export interface ProviderState {
  provider: Provider;
  /** Present until it is handled. */
  arrival: Arrival | undefined;
  endArrival(): void;
}

export const ProviderContext = createContext<ProviderState | undefined>(undefined);

export function useProvider(): ProviderState {
  const state = useContext(ProviderContext);
  if (!state) throw new Error('There is no provider around this component.');
  return state;
}

/** Undefined when there is none, or it is not known yet. */
export function useProviderName(): string | undefined {
  const { provider } = useProvider();
  return useReading(() => provider.name()).data ?? undefined;
}
