import { createRequire } from 'node:module';
import { act, createElement, StrictMode, type ReactElement } from 'react';
import type { Client } from '../src/client.ts';
import type { LiveTasksOptions } from '../src/list/live-tasks.ts';
import { useLiveTasks, useUser, type UsedTasks } from '../src/react.ts';
import { createWorld } from './model/world.ts';

interface Rendered {
  update(element: ReactElement): void;
  toJSON(): { children: string[] } | null;
}

/** Deprecated in its types in favour of renderers that need a browser. Matches the version of React in this test. */
const require = createRequire(import.meta.url);
const { create: render } = require('react-test-renderer') as { create: (element: ReactElement) => Rendered };

beforeAll(() => Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true }));
afterAll(() => Reflect.deleteProperty(globalThis, 'IS_REACT_ACT_ENVIRONMENT'));

function createApp() {
  const world = createWorld();
  let opened = 0;
  const listeners = new Set<() => void>();
  let user: ReturnType<Client['user']>;
  const client = {
    liveTasks(options: LiveTasksOptions) {
      opened += 1;
      return world.openList(options);
    },
    user: () => user,
    onUser(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  } as unknown as Client; // only the part that the hooks use
  let used: UsedTasks | undefined;
  let renders = 0;
  const List = ({ options }: { options: LiveTasksOptions }) => {
    renders += 1;
    used = useLiveTasks(client, options);
    const name = useUser(client)?.name ?? 'no one';
    return createElement('p', null, [name, used.status, ...used.tasks.map(({ title }) => title)].join(' '));
  };
  let root: Rendered | undefined;
  return {
    world,
    opened: () => opened,
    renders: () => renders,
    text: () => root?.toJSON()?.children[0],
    used: () => used,
    signIn(next: ReturnType<Client['user']>) {
      user = next;
      act(() => listeners.forEach((tell) => tell()));
    },
    show: (options: LiveTasksOptions) =>
      act(async () => {
        const element = createElement(StrictMode, null, createElement(List, { options }));
        if (root) root.update(element);
        else root = render(element);
      }),
    hide: () => act(async () => root?.update(createElement('b'))),
    arrive: () => act(world.arriveAll),
  };
}

it('renders a list and each of its changes until the component unmounts', async () => {
  const { show, hide, text, arrive, world, renders, used } = createApp();
  world.server.create({ input: { title: 'first' } });
  await show({});
  expect(text()).toBe('no one loading');
  await arrive();
  expect(text()).toBe('no one live first');
  world.server.create({ input: { title: 'second' } });
  await arrive();
  expect(text()).toBe('no one live second first');
  const before = renders();
  await arrive();
  expect(renders()).toBe(before);
  await hide();
  const last = used();
  world.server.create({ input: { title: 'unseen' } });
  expect(await world.step('changes')).toBe(false);
  await arrive();
  expect(used()).toBe(last);
});

it('uses the same list for equal options and another list for different options, and loads more on request', async () => {
  const { show, text, arrive, world, opened, used } = createApp();
  for (const completed of [true, true, false]) {
    world.server.create({ input: { title: `${completed}`, completed } });
    world.pass(1);
  }
  await show({ filter: { completed: true }, first: 1 });
  await arrive();
  const before = opened();
  await show({ filter: { completed: true }, first: 1 });
  await arrive();
  expect(opened()).toBe(before);
  expect([text(), used()?.hasMore, used()?.totalCount]).toEqual(['no one live true', true, 2]);
  void used()?.loadMore(5);
  await arrive();
  expect([text(), used()?.hasMore]).toEqual(['no one live true true', false]);
  await show({ filter: { completed: false } });
  await arrive();
  expect(text()).toBe('no one live false');
});

it('returns the signed-in user', async () => {
  const { show, text, signIn } = createApp();
  await show({});
  signIn({ id: '1', email: 'ada@example.com', name: 'Ada' });
  expect(text()).toBe('Ada loading');
  signIn(null);
  expect(text()).toBe('no one loading');
});
