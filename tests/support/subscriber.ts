import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';

/** One change as a subscriber sees it. */
export interface SeenChange {
  cursor: string;
  sequence: number;
  kind: 'INSERT' | 'UPDATE' | 'DELETE';
  task: { id: string; title: string; completed: boolean; version: number };
  previous: { id: string; title: string; completed: boolean; version: number } | null;
}

export interface Subscriber {
  /** Everything seen so far, in the order of arrival. */
  changes: SeenChange[];
  /** What ended the subscription, if anything did. */
  failures: unknown[];
  close(): Promise<void>;
}

const QUERY = `subscription Changes($after: String) {
  taskChanges(after: $after) {
    cursor sequence kind
    task { id title completed version }
    previous { id title completed version }
  }
}`;

/**
 * Subscribes over graphql-ws, as an application that must not miss anything does: when the connection breaks, or the
 * gateway cannot serve it for a moment, it comes back with the cursor of the last change that it has seen. It goes round
 * `urls` in turn. Resolves when the connection stands.
 */
export async function subscribe(
  urls: string[],
  token: string,
  { after }: { after?: string } = {},
): Promise<Subscriber> {
  const changes: SeenChange[] = [];
  const failures: unknown[] = [];
  let attempts = 0;
  let isClosed = false;
  let client: Client | undefined;
  let connected = () => {};
  const standing = new Promise<void>((resolve) => {
    connected = resolve;
  });

  /** A connection that was refused has nothing left to end, and says so by a rejection. */
  const leave = async () => client?.dispose();

  const open = () => {
    const url = urls[attempts++ % urls.length] ?? '';
    const again = () => {
      if (isClosed) return;
      void leave().catch(() => undefined);
      setTimeout(open, 100);
    };
    client = createClient({
      url: `${url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${token}` },
      retryAttempts: 0,
      lazy: false,
      onNonLazyError: () => {},
      on: { connected: () => connected() },
    });
    const variables = { after: changes.at(-1)?.cursor ?? after };
    client.subscribe<{ taskChanges: SeenChange }>(
      { query: QUERY, variables },
      {
        next: ({ data, errors }) => {
          if (errors || !data) failures.push(errors);
          else changes.push(data.taskChanges);
        },
        error: (error) => {
          // GraphQL errors come as a list; anything else is the connection, which comes back.
          if (Array.isArray(error) && !error.some(({ extensions }) => extensions?.code === 'SERVICE_UNAVAILABLE'))
            failures.push(error);
          else again();
        },
        complete: again,
      },
    );
  };
  open();
  await standing;
  return {
    changes,
    failures,
    async close() {
      isClosed = true;
      await leave().catch(() => undefined);
    },
  };
}
