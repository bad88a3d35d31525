import { Client } from 'pg';

/** Sessions of somebody else, which stay until they are let go. */
export function createHeldSessions() {
  const held: Client[] = [];
  return {
    async hold(url: string, ...statements: string[]): Promise<Client> {
      const client = new Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      held.push(client);
      for (const statement of statements) await client.query(statement);
      return client;
    },
    letGo: () => Promise.all(held.splice(0).map((client) => client.end().catch(() => undefined))),
  };
}
