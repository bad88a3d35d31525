import type { StreamEnd } from '@taskmesh/gateway/simulated';
import type { Reader } from './reader.ts';
import { findContradictions, type Segment, type Received } from './segment.ts';
import { createSlowSocket } from './slow-socket.ts';
import type { World } from './world.ts';

const RECONNECT_AFTER_MS = 200;
const NONSENSE = 'nonsense';

/** A task in the format of the graph. */
type GraphTask = Omit<Received['task'], 'ownerId'> & { owner: { id: string; tasks?: { changesCursor: string } } };

/**
 * Creates a reader of `Subscription.taskChanges`, which resumes by cursor, and reads its list again if it must. `isNested`: whether it
 * also selects a field of another service, with its own cursor as an argument.
 */
export function createStreamReader(world: World, name: string, owner: string, isNested: boolean): Reader {
  const { time, store, random } = world;
  const operation = isNested ? world.operations.nested : world.operations.plain;
  const segments: Segment[] = [];
  let connection: { close(): void; stall(ms: number): void } | undefined;
  /** The last cursor that it received. */
  let cursor: string | undefined;
  let isGone = true;
  let isReadingList = false;

  const reconnectIn = (ms: number) => {
    void time.sleep(ms + random() * ms).then(connect);
  };

  const connect = async () => {
    if (connection || isGone || isReadingList) return;
    isReadingList = true;
    const after = (cursor ??= await world.cursorOf(owner));
    isReadingList = false;
    const socket = createSlowSocket(time);
    const segment: Segment = { owner, beginning: world.positionOf(after), received: [] };
    let stop = () => {};
    const me = {
      close() {
        if (connection !== me) return;
        connection = undefined;
        socket.close();
        stop();
      },
      stall: socket.stall,
    };
    connection = me;
    const over = (end: StreamEnd) => {
      if (connection !== me) return;
      if (end.kind === 'failed') cursor = undefined;
      me.close();
      reconnectIn(RECONNECT_AFTER_MS);
    };
    socket.onText((text) => {
      const { sequence, kind, task, previous, ...rest } = (JSON.parse(text) as Event).data.taskChanges;
      segment.received.push({ sequence, kind, task: owned(task), previous: previous && owned(previous) });
      cursor = rest.cursor;
      if (isNested && task.owner.tasks?.changesCursor !== after)
        world.complain(`${name} received what another stream had asked for`);
    });
    segments.push(segment);
    world.subscriptions
      .subscribe(
        { protocol: 'graphql-ws', operation, variables: { after }, call: world.callOf(owner) },
        {
          next: (json) => {
            if (connection !== me) world.complain(`${name} received something after it had left`);
            return socket.send(json);
          },
          end: over,
          drained: socket.drained,
        },
      )
      .then(
        (subscription) => {
          stop = subscription.stop;
          if (connection !== me) stop();
        },
        (error: { extensions?: { code?: string } }) => {
          const isExpired = error.extensions?.code === 'CURSOR_EXPIRED';
          over(isExpired ? { kind: 'failed', error: error as never } : { kind: 'stopped' });
        },
      );
  };

  return {
    come() {
      isGone = false;
      void connect();
    },
    cut(awayMs) {
      if (!connection) return;
      connection.close();
      reconnectIn(awayMs);
    },
    stall: (ms) => connection?.stall(ms),
    forgetCursor: () => void (cursor = NONSENSE),
    leave() {
      isGone = true;
      connection?.close();
    },
    segments: () => segments,
    missing() {
      const last = segments.at(-1);
      if (!connection || !last) return [{ fault: 'lost', what: `${name} never gets its stream back` }];
      return findContradictions(store, name, last, true);
    },
    misreported: () => segments.slice(0, -1).flatMap((segment) => findContradictions(store, name, segment, false)),
  };
}

interface Event {
  data: {
    taskChanges: Pick<Received, 'sequence' | 'kind'> & { task: GraphTask; previous: GraphTask | null; cursor: string };
  };
}

function owned({ id, title, version, owner }: GraphTask): Received['task'] {
  return { id, title, version, ownerId: owner.id };
}
