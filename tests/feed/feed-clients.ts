import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import {
  createClient as createSupabase,
  type RealtimePostgresChangesPayload,
  type SupabaseClient,
} from '@supabase/supabase-js';
import { createProxyFor, eventually } from '@taskmesh/testing';
import { createClient as createSse } from 'graphql-sse';
import { createClient as createOldSupabase } from 'supabase-js-2.49';
import { readCursor, register } from '../http.ts';

type Change = RealtimePostgresChangesPayload<Record<string, unknown>>;
type GraphqlChange = { sequence: number; cursor: string; task: { title: string; owner: object } };

/** All changes, or those of one event or with a filter, as a Supabase client asks for them. */
const changesWith = (more: { filter?: string; event?: 'DELETE' } = {}) =>
  ({ event: '*', schema: 'public', table: 'tasks', ...more }) as { event: '*'; schema: string };

type Row = { title?: string };

const SUBSCRIPTION =
  'subscription($after: String) { taskChanges(after: $after) { cursor sequence kind task { id title owner { name taskStatistics { total } } } } }';

/** Real clients of every protocol, as applications use them. */
export function describeFeedClients(platform: () => { urls: string[] }) {
  const url = () => platform().urls[0] ?? '';
  it('graphql-sse streams changes with fields of other services, resumes after a cursor, and ends at logout', async () => {
    const owner = await register(url());
    const { token } = owner;
    const follow = (after = '') => {
      const seen: { data?: { taskChanges: GraphqlChange } | null }[] = [];
      const client = createSse({ url: `${url()}/graphql`, headers: { authorization: `Bearer ${token}` } });
      const { promise: ended, resolve: complete, reject: error } = Promise.withResolvers<void>();
      const sink = { next: (result: object) => void seen.push(result), error, complete };
      client.subscribe({ query: SUBSCRIPTION, variables: { after } }, sink);
      return { seen, ended, changes: () => seen.flatMap(({ data }) => data?.taskChanges ?? []) };
    };
    const first = follow(await readCursor(url(), token));
    await owner.change(await owner.create('first'), { title: 'second' });
    await eventually(() => expect(first.changes().map(({ sequence }) => sequence)).toEqual([1, 2]));
    expect(first.changes()[0]?.task.owner).toEqual({ name: 'Ada', taskStatistics: { total: 1 } });
    const resumed = follow(first.changes()[0]?.cursor);
    await eventually(() => expect(resumed.changes().map(({ sequence }) => sequence)).toEqual([2]));
    await owner.signOut();
    for (const { seen, ended } of [first, resumed]) {
      await ended;
      expect(seen.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    }
  });

  it('Apollo Client gets every change over multipart', async () => {
    const owner = await register(url());
    const { token } = owner;
    const after = await readCursor(url(), token);
    const link = new HttpLink({ uri: `${url()}/graphql`, headers: { authorization: `Bearer ${token}` } });
    const client = new ApolloClient({ cache: new InMemoryCache(), link });
    const titles: string[] = [];
    const subscription = client
      .subscribe<{ taskChanges: GraphqlChange }>({ query: gql(SUBSCRIPTION), variables: { after } })
      .subscribe(({ data }) => void (data && titles.push(data.taskChanges.task.title)));
    await owner.change(await owner.create('first'), { title: 'second' });
    await eventually(() => expect(titles).toEqual(['first', 'second']));
    subscription.unsubscribe();
    client.stop();
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
      const [all, deleted]: [Change[], Change[]] = [[], []];
      const channel = client
        .channel('tasks')
        .on('postgres_changes', changesWith(), (change) => void all.push(change))
        .on('postgres_changes', changesWith({ event: 'DELETE' }), (change) => void deleted.push(change));
      await subscribed(channel);
      await stranger.create('not for you');
      const task = await owner.create('first');
      await owner.change(task, { title: 'second' });
      await owner.remove(task);
      await eventually(() => expect(all.map(({ eventType }) => eventType)).toEqual(['INSERT', 'UPDATE', 'DELETE']));
      expect(all[0]).toMatchObject({
        ...{ schema: 'public', table: 'tasks', errors: null, old: {} },
        new: { id: task, user_id: owner.id, title: 'first', version: 1, completed: false, due_date: null },
      });
      expect(all[1]).toMatchObject({ new: { title: 'second', version: 2 }, old: { title: 'first', version: 1 } });
      expect(all[2]).toMatchObject({ new: {}, old: { id: task, title: 'second', version: 2 } });
      expect(all[2]?.commit_timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(deleted.map(({ eventType }) => eventType)).toEqual(['DELETE']);
    });

    it('filters by column, still delivers the change that leaves the filter, and rejects an invalid one', async () => {
      const owner = await register(url());
      const client = await connect(owner.token);
      const done: Change[] = [];
      const channel = (name: string, filter: string) =>
        client.channel(name).on('postgres_changes', changesWith({ filter }), (change) => void done.push(change));
      const title = 'a, quoted "title';
      await expect(subscribed(channel('wrong', 'owner=eq.1'))).rejects.toThrow(/unknown column: owner/);
      await subscribed(channel('any name', `title=eq."${title.replace('"', '\\"')}"`));
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
  });

  it('lets a Supabase client resume after the last cursor that it received', async () => {
    const owner = await register(url());
    const { proxy: network, url: throughProxy } = await createProxyFor(url());
    const client = createSupabase(throughProxy, 'public-key', { accessToken: async () => owner.token });
    await client.realtime.setAuth(owner.token);
    const titles: unknown[] = [];
    let cursors = 0;
    const channel = client
      .channel('tasks')
      .on('postgres_changes', changesWith(), ({ new: task }: Change) => void titles.push((task as Row).title))
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
  }, 180_000);
}
