import { createMemoryStorage } from '@taskmesh/client';
import { consumeArrival } from './arrival.ts';
import type { ConsoleStorage } from './console-storage.ts';

const KEY = 'taskmesh.sign-in.errand';
const replaced: string[] = [];

beforeEach(() => {
  replaced.length = 0;
  const history = { state: null, replaceState: (_state: unknown, _title: string, url: string) => replaced.push(url) };
  Object.assign(globalThis, { location: { hash: '#sign_in_code=code' }, history });
});
afterAll(() => {
  for (const name of ['location', 'history']) Reflect.deleteProperty(globalThis, name);
});

const arrive = (kept?: string) => {
  const storage = createMemoryStorage() as ConsoleStorage;
  if (kept !== undefined) storage.setItem(KEY, kept);
  const arrival = consumeArrival(storage);
  expect(storage.getItem(KEY)).toBeNull();
  return arrival;
};

it('continues the sign-in that the tab stored', () => {
  const pending = { stay: true, linkTo: 'ada' };
  expect(arrive(JSON.stringify(pending))).toEqual({ pending, result: { code: 'code' } });
  expect(replaced).toEqual(['#/account']);
});

it.each([undefined, '', '{', '{}', '5', 'null', '[]', '{"stay":"yes","linkTo":null}', '{"stay":true,"linkTo":7}'])(
  'treats the response as one to another page if the tab stored %s',
  (kept) => {
    const { pending, result } = arrive(kept) ?? {};
    expect(pending).toEqual({ stay: false, linkTo: null });
    expect(result).toMatchObject({ error: 'not_begun' });
    expect(replaced).toEqual(['#/sign-in']);
  },
);
