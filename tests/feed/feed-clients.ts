import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import {
  createClient as createSupabase,
  type RealtimePostgresChangesPayload,
  type SupabaseClient,
} from '@supabase/supabase-js';
import { createFaultyProxy, eventually } from '@taskmesh/testing';
import { createClient as createSse } from 'graphql-sse';
import { createClient as createOldSupabase } from 'supabase-js-2.49';
import { readCursor, register } from '../http.ts';

type Change = RealtimePostgresChangesPayload<Record<string, unknown>>;

const SUBSCRIPTION =
  'subscription($after: String) { taskChanges(after: $after) { cursor sequence kind task { id title owner { name taskStatistics { total } } } } }';

/** Real clients of every protocol, as applications use them. */
export function describeFeedClients(platform: () => { urls: string[] }) {
  const url = () => platform().urls[0] ?? '';
  describe('graphql-sse', () => {
    it('streams changes with fields of other services, resumes after a cursor, and ends at logout', async () => {
      const owner = await register(url());
      const { token } = owner;
      const after = await readCursor(url(), token);
      const seen: { sequence: number; cursor: string; task: { owner: object } }[] = [];
      const client = createSse({
        url: `${url()}/graphql`,
        headers: { authorization: `Bearer ${token}` },
        retryAttempts: 0,
      });
      const results: unknown[] = [];
      const ended = new Promise<void>((resolve, reject) => {
        client.subscribe<{ taskChanges: (typeof seen)[number] }>(
          { query: SUBSCRIPTION, variables: { after } },
          {
            next: (result) => {
              results.push(result);
              if (result.data) seen.push(result.data.taskChanges);
            },
            error: reject,
            complete: resolve,
          },
        );
      });
      const task = await owner.create('first');
      await owner.change(task, { title: 'second' });
      await eventually(() => expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2]));
      expect(seen[0]?.task.owner).toEqual({ name: 'Ada', taskStatistics: { total: 1 } });

      const resumed: number[] = [];
      const again = createSse({ url: `${url()}/graphql`, headers: { authorization: `Bearer ${token}` } });
      const stop = again.subscribe<{ taskChanges: { sequence: number } }>(
        { query: SUBSCRIPTION, variables: { after: seen[0]?.cursor } },
        {
          next: ({ data }) => void (data && resumed.push(data.taskChanges.sequence)),
          error: () => {},
          complete: () => {},
        },
      );
      await eventually(() => expect(resumed).toEqual([2]));
      stop();

      await owner.signOut();
      await ended;
      expect(results.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    });

    it('reports a bad request in the status', async () => {
      const owner = await register(url());
      const { token } = owner;
      const send = (query: string, headers: Record<string, string>) =>
        fetch(`${url()}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
          body: JSON.stringify({ query }),
        });
      expect((await send('subscription { taskChanges { sequence } }', {})).status).toBe(401);
      expect((await send('subscription { nonsense }', { authorization: `Bearer ${token}` })).status).toBe(400);
      const expired = await send('subscription { taskChanges(after: "nonsense") { sequence } }', {
        authorization: `Bearer ${token}`,
      });
      expect(await expired.text()).toMatch(/CURSOR_EXPIRED[\s\S]*event: complete/);
    });
  });

  describe('Apollo Client over multipart', () => {
    it('gets every change', async () => {
      const owner = await register(url());
      const { token } = owner;
      const after = await readCursor(url(), token);
      const client = new ApolloClient({
        cache: new InMemoryCache(),
        link: new HttpLink({ uri: `${url()}/graphql`, headers: { authorization: `Bearer ${token}` } }),
      });
      const titles: string[] = [];
      const subscription = client
        .subscribe<{ taskChanges: { task: { title: string } } }>({ query: gql(SUBSCRIPTION), variables: { after } })
        .subscribe(({ data }) => void (data && titles.push(data.taskChanges.task.title)));
      const task = await owner.create('first');
      await owner.change(task, { title: 'second' });
      await eventually(() => expect(titles).toEqual(['first', 'second']));
      subscription.unsubscribe();
      client.stop();
    });
  });

  describe.each([
    ['the current supabase-js (vsn 2.0.0)', createSupabase],
    ['supabase-js 2.49 (vsn 1.0.0)', createOldSupabase as unknown as typeof createSupabase], // the API used here is the same
  ])('%s', (_name, create_) => {
    const clients: SupabaseClient[] = [];
    const connect = async (token: string) => {
      const client = create_(url(), 'public-key', { accessToken: async () => token });
      clients.push(client);
      await client.realtime.setAuth(token);
      return client;
    };
    const subscribed = (channel: ReturnType<SupabaseClient['channel']>) =>
      new Promise<void>((resolve, reject) => {
        channel.subscribe((status, error) => {
          if (status === 'SUBSCRIBED') resolve();
          else if (status !== 'CLOSED') reject(error ?? new Error(status));
        });
      });
    afterEach(async () => {
      for (const client of clients.splice(0)) {
        await client.removeAllChannels();
        await client.realtime.disconnect();
      }
    });

    it('sees its own inserts, updates and deletes in order, and no one else’s', async () => {
      const owner = await register(url());
      const stranger = await register(url());
      const client = await connect(owner.token);
      const all: Change[] = [];
      const deleted: Change[] = [];
      const channel = client
        .channel('tasks')
        .on('postgres_changes', { event: '*', schema: 'public', table: 'tasks' }, (change) => void all.push(change))
        .on(
          'postgres_changes',
          { event: 'DELETE', schema: 'public', table: 'tasks' },
          (change) => void deleted.push(change),
        );
      await subscribed(channel);
      await stranger.create('not for you');
      const task = await owner.create('first');
      await owner.change(task, { title: 'second' });
      await owner.remove(task);
      await eventually(() => expect(all.map(({ eventType }) => eventType)).toEqual(['INSERT', 'UPDATE', 'DELETE']));
      expect(all[0]).toMatchObject({
        schema: 'public',
        table: 'tasks',
        errors: null,
        old: {},
        new: { id: task, user_id: owner.id, title: 'first', version: 1, completed: false, due_date: null },
      });
      expect(all[1]).toMatchObject({ new: { title: 'second', version: 2 }, old: { title: 'first', version: 1 } });
      expect(all[2]).toMatchObject({ new: {}, old: { id: task, title: 'second', version: 2 } });
      expect(all[2]?.commit_timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(deleted.map(({ eventType }) => eventType)).toEqual(['DELETE']);
    });

    it('filters by column, and still delivers the change that leaves the filter', async () => {
      const owner = await register(url());
      const client = await connect(owner.token);
      const done: Change[] = [];
      const title = 'a, quoted "title';
      await subscribed(
        client
          .channel('any name')
          .on(
            'postgres_changes',
            { event: '*', schema: 'public', table: 'tasks', filter: `title=eq."${title.replace('"', '\\"')}"` },
            (change) => void done.push(change),
          ),
      );
      const task = await owner.create(title);
      await owner.create('another one');
      await owner.change(task, { title: 'left the filter' });
      await owner.change(task, { title: 'is out by now' });
      await owner.create(title);
      await eventually(() => expect(done.map(({ eventType }) => eventType)).toEqual(['INSERT', 'UPDATE', 'INSERT']));
    });

    it('receives its own broadcasts on request, and no one else does', async () => {
      const heard: [who: string, message: object][] = [];
      const self = { config: { broadcast: { self: true, ack: true } } };
      const [own, other] = [await connect((await register(url())).token), await connect((await register(url())).token)];
      const [here, there] = [own.channel('room', self), other.channel('room', self)];
      here.on('broadcast', { event: '*' }, (message) => void heard.push(['own', message]));
      there.on('broadcast', { event: '*' }, (message) => void heard.push(['other', message]));
      await Promise.all([subscribed(here), subscribed(there)]);
      const message = { type: 'broadcast', event: 'größer', payload: { x: 1, text: 'ein Wort 😀' } } as const;
      expect(await here.send(message)).toBe('ok');
      // Every delivery of the first message has arrived before this one is acknowledged.
      expect(await there.send(message)).toBe('ok');
      await eventually(() => expect(heard).toHaveLength(2));
      expect(heard.map(([who]) => who)).toEqual(['own', 'other']);
      for (const [, each] of heard) expect(each).toMatchObject(message);
    });

    it('rejects an invalid filter with a reason', async () => {
      const owner = await register(url());
      const client = await connect(owner.token);
      const channel = client
        .channel('tasks')
        .on('postgres_changes', { event: '*', schema: 'public', table: 'tasks', filter: 'owner=eq.1' }, () => {});
      await expect(subscribed(channel)).rejects.toThrow(/unknown column: owner/);
    });
  });

  it('lets a Supabase client resume after the last cursor that it received', async () => {
    const owner = await register(url());
    const { hostname: host, port } = new URL(url());
    const network = await createFaultyProxy({ host, port: Number(port) });
    const client = createSupabase(`http://${network.host}:${network.port}`, 'public-key', {
      accessToken: async () => owner.token,
    });
    await client.realtime.setAuth(owner.token);
    const titles: unknown[] = [];
    let cursors = 0;
    const channel = client
      .channel('tasks')
      .on('postgres_changes', { event: '*', schema: 'public', table: 'tasks' }, (change) => {
        titles.push((change.new as { title?: string }).title);
      })
      .on('system', {}, (message: { extension: string; cursor?: string }) => {
        if (message.extension !== 'resume' || !message.cursor) return;
        cursors++;
        channel.updateJoinPayload({ resume: { since: message.cursor } });
      });
    channel.updateJoinPayload({ resume: { since: null } });
    await new Promise<void>((resolve) => channel.subscribe((status) => status === 'SUBSCRIBED' && resolve()));
    await eventually(() => expect(cursors).toBe(1)); // the cursor at the start
    await owner.create('one');
    await eventually(() => expect([titles, cursors]).toEqual([['one'], 2]));
    // The client loses its connection while changes are made.
    await network.cut();
    await owner.create('two');
    await owner.create('three');
    expect(titles).toEqual(['one']);
    await network.restore();
    await eventually(() => expect(titles).toEqual(['one', 'two', 'three']), { timeoutMs: 15_000 });
    await client.removeAllChannels();
    await client.realtime.disconnect();
    await network.close();
  }, 180_000);
}
