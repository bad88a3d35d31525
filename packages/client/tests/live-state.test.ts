import { TaskmeshError } from '../src/errors.ts';
import { CUT } from '../src/feed/feed.ts';
import { IDLE, nextLive, statusOf, type LiveEvent, type LiveState, type LiveStatus } from '../src/list/live-state.ts';

const run = (...events: LiveEvent[]): LiveState => events.reduce(nextLive, IDLE);
const entered: LiveEvent = { kind: 'entered', user: 'known', isRead: false };
const [read, standing, resumed, renewed, left] = (['read', 'standing', 'resumed', 'renewed', 'left'] as const).map(
  (kind): LiveEvent => ({ kind }),
) as [LiveEvent, LiveEvent, LiveEvent, LiveEvent, LiveEvent];
const cut: LiveEvent = { kind: 'ended', end: CUT };
const unauthenticated = (token?: string): LiveEvent => ({ kind: 'ended', end: { reason: 'unauthenticated', token } });
const expired: LiveEvent = { kind: 'ended', end: { reason: 'expired' } };
const error = new TaskmeshError('BAD_USER_INPUT', 'no such order');
const refused: LiveEvent = { kind: 'ended', end: { reason: 'refused', error } };

it.each<[LiveState['kind'], LiveStatus, LiveEvent[]]>([
  ['idle', 'idle', []],
  ['waiting', 'loading', [{ kind: 'entered', user: 'unknown', isRead: false }]],
  ['signed-out', 'signed-out', [{ kind: 'entered', user: 'none', isRead: true }]],
  ['reading', 'loading', [entered]],
  ['following', 'loading', [entered, read]],
  ['following', 'reconnecting', [{ kind: 'entered', user: 'known', isRead: true }]],
  ['live', 'live', [entered, read, standing]],
  ['pausing', 'reconnecting', [entered, read, standing, cut]],
  ['following', 'reconnecting', [entered, read, standing, cut, resumed]],
  ['pausing', 'loading', [entered, cut]],
  ['reading', 'loading', [entered, cut, resumed]],
  ['pausing', 'loading', [entered, read, standing, expired]],
  ['reading', 'loading', [entered, read, standing, expired, resumed]],
  ['renewing', 'reconnecting', [entered, read, standing, unauthenticated('a')]],
  ['following', 'reconnecting', [entered, read, standing, unauthenticated('a'), renewed, resumed]],
  ['pausing', 'loading', [entered, unauthenticated()]],
  ['failed', 'failed', [entered, refused]],
  ['failed', 'failed', [entered, refused, resumed]],
  ['idle', 'idle', [entered, refused, left]],
  ['idle', 'idle', [left, read, standing, cut]],
])('is %s and shows %s', (kind, status, events) => {
  const state = run(...events);
  expect([state.kind, statusOf(state)]).toEqual([kind, status]);
});

it('counts failures until a connection has proved to be good', () => {
  expect(run(entered, cut, resumed, cut, resumed)).toMatchObject({ failures: 2 });
  expect(run(entered, cut, resumed, read, standing)).toMatchObject({ failures: 1 });
  expect(run(entered, cut, resumed, read, standing, { kind: 'proved' })).toMatchObject({ failures: 0 });
});

it('continues at once after a fixed cause, but never after a refused fresh token', () => {
  expect(run(entered, read, standing, unauthenticated('a'), renewed)).toMatchObject({ isMended: true });
  expect(run(entered, unauthenticated())).toMatchObject({ isMended: false });
});
