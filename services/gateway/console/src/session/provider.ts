import { TaskmeshError, type Client } from '@taskmesh/client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useReading } from '../requests/use-reading.ts';
import { storePendingSignIn, type Arrival, type PendingSignIn } from './arrival.ts';
import type { ConsoleStorage } from './console-storage.ts';

/** The sign-in provider. */
export type Provider = ReturnType<typeof createProvider>;

export function createProvider({ client, storage }: { client: Client; storage: ConsoleStorage }) {
  let name: Promise<string | null> | undefined;
  return {
    /** The provider's name, or null without a provider. Requested once; a failed request is repeated. */
    async name() {
      if (!isSecureContext) return null; // browsers do not offer SHA-256 to insecure pages
      name ??= client.signInProvider();
      try {
        return await name;
      } catch (error) {
        name = undefined;
        throw error;
      }
    },
    /** Leaves the page for the provider. @throws TaskmeshError if the provider is unreachable */
    async go(pending: PendingSignIn) {
      storePendingSignIn(storage, pending);
      const address = await client.beginProviderSignIn('/');
      await check(address);
      location.assign(address);
    },
  };
}

const CHECK_TIMEOUT_MS = 20_000;

/** Checks that the provider is reachable, because a failed navigation would leave the user on the browser's error page. */
async function check(address: string): Promise<void> {
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const response = await fetch(address, { redirect: 'manual', signal }).catch((error: unknown) => {
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
  /** The user's return from the provider, until it is handled. */
  arrival: Arrival | undefined;
  endArrival(): void;
}

export const ProviderContext = createContext<ProviderState | undefined>(undefined);

export function useProvider(): ProviderState {
  const state = useContext(ProviderContext);
  if (!state) throw new Error('There is no provider around this component.');
  return state;
}

/** The provider's name; undefined without a provider, or while it is still unknown. */
export function useProviderName(): string | undefined {
  const { provider } = useProvider();
  return useReading(() => provider.name()).data ?? undefined;
}
