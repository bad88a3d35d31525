import type { ChannelReader, Fading } from './reader.ts';
import { findContradictions, type Segment, type Received } from './segment.ts';
import { createSlowSocket, type SlowSocket } from './slow-socket.ts';
import type { World } from './world.ts';

const TOPIC = 'realtime:tasks';
const AGAIN_AFTER_MS = 200;
const NONSENSE = 'nonsense';
const HOUR_MS = 3_600_000;
/** A token is renewed at most this long before it expires. */
const RENEWED_BEFORE_MS = 10;
/** After this time, no token of a client that changed the owner is still in transit. */
const SETTLED_AFTER_MS = 10_000;
/** The life of a token that has expired, but recently enough to join. */
const FADED_MS = -1_000;

type Row = Record<'id' | 'user_id' | 'title', string> & { version: number };
interface Payload {
  status?: string;
  extension?: string;
  message?: string;
  cursor?: string;
  data?: { type: Received['kind']; record?: Row; old_record?: Row };
}
type Frame = [joinRef: string | null, ref: string | null, topic: string, event: string, payload: Payload];

/** Creates a reader of a Supabase channel, which resumes as the clients of that protocol do. */
export function createChannelReader(world: World, name: string, firstOwner: string): ChannelReader {
  const { time, store, random, channel } = world;
  const segments: Segment[] = [];
  let socket: SlowSocket | undefined;
  /** The owner whose changes it expects, by the last token that it sent. */
  let owner = firstOwner;
  let cursor: string | undefined;
  let segment: Segment | undefined;
  /** The reference of the pending or the current join. */
  let joinRef: string | undefined;
  let isJoined = false;
  let refs = 0;
  /** Set if the next join uses an expired token; the tokens that follow it. */
  let fading: Fading | undefined;
  /** Until then, it ignores changes: it changed the owner so fast that those of several owners may arrive. */
  let deafUntil = 0;
  let isGone = true;

  const say = (event: string, payload: unknown, ref = String(++refs)) =>
    socket?.say(JSON.stringify([joinRef ?? null, ref, TOPIC, event, payload]));

  const begin = (beginning: Segment['beginning']) => {
    segment = { owner, beginning, received: [] };
    segments.push(segment);
  };

  /** Whether the position of the segment is unknown: it began at "now", and has received nothing yet. */
  const isUncertain = () => segment !== undefined && 'from' in segment.beginning && segment.received.length === 0;

  const join = async () => {
    const mine = socket;
    const since = (cursor ??= await world.cursorOf(owner));
    if (!mine || mine !== socket) return;
    joinRef = String(++refs);
    isJoined = false;
    deafUntil = 0;
    begin(world.positionOf(since));
    const token = world.tokenOf(owner, fading ? FADED_MS : HOUR_MS);
    const config = { postgres_changes: [{ event: '*', schema: 'public', table: 'tasks' }] };
    say('phx_join', { config, access_token: token, resume: { since } }, joinRef);
  };

  const joinAgain = () => {
    const mine = socket;
    segment = undefined;
    isJoined = false;
    void time.sleep(AGAIN_AFTER_MS).then(() => mine === socket && !segment && void join());
  };

  const connect = () => {
    if (socket || isGone) return;
    const mine = createSlowSocket(time);
    socket = mine;
    mine.onText((text) => mine === socket && take(JSON.parse(text) as Frame));
    mine.onClosed(() => mine === socket && lose(AGAIN_AFTER_MS));
    channel.serve(mine.server, mine.connection, { version: '2.0.0', apikey: 'public-key', ip: '192.0.2.1' });
    void join();
  };

  const lose = (awayMs: number) => {
    socket = undefined;
    segment = undefined;
    isJoined = false;
    void time.sleep(awayMs).then(connect);
  };

  const push = (of: string, lifeMs: number) => {
    if (!isJoined) return;
    if (of !== owner) {
      if (isUncertain()) deafUntil = time.now() + SETTLED_AFTER_MS;
      owner = of;
      cursor = undefined;
      begin({ epoch: Infinity, from: 'now', notBefore: { epoch: store.epoch(), sequence: store.head(of) } });
    }
    say('access_token', { access_token: world.tokenOf(of, lifeMs) });
    const mine = socket;
    if (lifeMs < HOUR_MS)
      void time.sleep(lifeMs - random() * RENEWED_BEFORE_MS).then(() => mine === socket && push(owner, HOUR_MS));
  };

  const take = ([of, ref, , event, payload]: Frame) => {
    if (of !== null && of !== joinRef) return; // belongs to an earlier join
    switch (event) {
      case 'phx_reply':
        return ref === joinRef ? onJoined(payload.status === 'ok') : undefined;
      case 'postgres_changes':
        return onChange(payload);
      case 'system':
        return onSystem(payload);
      case 'phx_error':
        return isJoined ? joinAgain() : undefined;
    }
  };

  const onJoined = (isOk: boolean) => {
    if (!isOk) return joinAgain();
    isJoined = true;
    if (!fading) return;
    const { freshAfterMs, other } = fading;
    fading = undefined;
    const mine = socket;
    const pushLater = (ms: number, of: string) => void time.sleep(ms).then(() => mine === socket && push(of, HOUR_MS));
    pushLater(freshAfterMs, owner);
    if (other) pushLater(freshAfterMs + other.afterMs, other.owner);
  };

  const onChange = ({ data }: Payload) => {
    if (!isJoined || !data || time.now() < deafUntil) return;
    const task = taskOf(data.record ?? data.old_record);
    const previous = data.old_record ? taskOf(data.old_record) : null;
    if (isUncertain() && deafUntil === 0 && task.ownerId === owner)
      world.complain(`${name} received a change, and not before where it begins`);
    // Until the server processes the token of another owner, changes of the former owner continue.
    const former = isUncertain() ? segments.findLast(({ owner: of }) => of === task.ownerId) : undefined;
    (former ?? segment)?.received.push({ kind: data.type, task, previous, sequence: undefined });
  };

  const onSystem = ({ extension, status, message, cursor: next }: Payload) => {
    if (!isJoined || time.now() < deafUntil) return;
    if (extension === 'resume' && status === 'ok' && next !== undefined) {
      if (world.positionOf(next).owner === owner) stand(next);
    } else if (message?.startsWith('CURSOR_EXPIRED')) {
      cursor = undefined;
      if (extension === 'resume') beginFromNow();
    }
  };

  /** The channel continues from now. It may still be the former owner's, if another owner's token is in transit. */
  const beginFromNow = () => {
    const former = segments.at(-2);
    if (!isUncertain()) begin({ epoch: store.epoch(), from: 'now' });
    else if (former && former.owner !== owner)
      segments.splice(-1, 0, { owner: former.owner, beginning: { epoch: store.epoch(), from: 'now' }, received: [] });
  };

  /** Accepts a cursor from the server, and checks that the client has received everything before it. */
  const stand = (next: string) => {
    cursor = next;
    const { epoch, sequence } = world.positionOf(next);
    const change = store.logOf(owner, epoch)[sequence - 1];
    const last = segment?.received.at(-1);
    if (!last && segment) segment.beginning = { epoch, sequence };
    else if (last?.task.id !== change?.task.id || last?.task.version !== change?.task.version)
      world.complain(`${name} got a cursor for ${sequence} of epoch ${epoch} that is not behind what it received`);
  };

  return {
    come() {
      isGone = false;
      connect();
    },
    cut(awayMs) {
      if (!socket) return;
      const mine = socket;
      lose(awayMs);
      mine.close();
    },
    stall: (ms) => socket?.stall(ms),
    forgetCursor: () => void (cursor = NONSENSE),
    push,
    fade(next) {
      fading = next;
      this.cut(1);
    },
    rejoin(isLate) {
      if (!isJoined) return;
      const left = joinRef;
      if (!isLate) say('phx_leave', {});
      segment = undefined;
      void join().then(() => {
        if (isLate) socket?.say(JSON.stringify([left, String(++refs), TOPIC, 'phx_leave', {}]));
      });
    },
    leave() {
      isGone = true;
      socket?.close();
      socket = undefined;
    },
    segments: () => segments,
    missing() {
      if (!isJoined || !segment) return [{ fault: 'lost', what: `${name} never gets its channel back` }];
      return findContradictions(store, name, segment, true);
    },
    misreported: () =>
      segments.flatMap((each) => (each === segment ? [] : findContradictions(store, name, each, false))),
  };
}

function taskOf(row: Row | undefined): Received['task'] {
  const { id = '', user_id = '', title = '', version = 0 } = row ?? {};
  return { id, ownerId: user_id, title, version };
}
