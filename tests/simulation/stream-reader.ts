import type { StreamEnd } from '@taskmesh/gateway/simulated';
import type { Reader } from './reader.ts';
import { judge, type Segment, type Told } from './segment.ts';
import { createSlowSocket } from './slow-socket.ts';
import type { World } from './world.ts';

const AGAIN_AFTER_MS = 200;
const NONSENSE = 'nonsense';

/** Reads `Subscription.taskChanges`: reads its list first, resumes by cursor, and reads its list anew when it has to. */
export function createStreamReader(world: World, name: string, owner: string): Reader {
  const { time, store, random, operation } = world;
  const segments: Segment[] = [];
  let connection: { close(): void; stall(ms: number): void } | undefined;
  /** Where it stands, as far as it was told. */
  let cursor: string | undefined;
  let isGone = true;

  const again = (ms: number) => {
    void time.sleep(ms + random() * ms).then(() => isGone || connection || void connect());
  };

  const connect = async () => {
    const socket = createSlowSocket(time);
    const after = (cursor ??= await world.cursorOf(owner));
    const segment: Segment = { owner, beginning: world.positionOf(after), told: [] };
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
      again(AGAIN_AFTER_MS);
    };
    socket.onText((text) => {
      const { data } = JSON.parse(text) as { data: { taskChanges: Told & { cursor: string } } };
      const told = data.taskChanges;
      segment.told.push({ ...told, task: owned(told.task), previous: told.previous && owned(told.previous) });
      cursor = told.cursor;
    });
    segments.push(segment);
    world.subscriptions
      .subscribe(
        { protocol: 'graphql-ws', operation, variables: { after }, call: world.callOf(owner) },
        {
          next: (json) => {
            if (connection !== me) world.complain(`${name} was told something after it had left`);
            return socket.send(json);
          },
          end: over,
          drained: socket.drained,
        },
      )
      .then(
        (unsubscribe) => {
          stop = unsubscribe;
          if (connection !== me) unsubscribe();
        },
        (error: { extensions?: { code?: string } }) =>
          over(
            error.extensions?.code === 'CURSOR_EXPIRED'
              ? { kind: 'failed', error: error as never }
              : { kind: 'stopped' },
          ),
      );
  };

  return {
    come() {
      isGone = false;
      if (!connection) void connect();
    },
    cut(awayMs) {
      if (!connection) return;
      connection.close();
      again(awayMs);
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
      if (!connection || !last) return [{ fault: 'lost', what: `${name} never gets its stream again` }];
      return judge(store, name, last, true);
    },
    mistold: () => segments.slice(0, -1).flatMap((segment) => judge(store, name, segment, false)),
  };
}

/** As the graph writes a task, with its owner as an object. */
function owned(task: Told['task'] & { owner?: { id: string } }): Told['task'] {
  const { owner, ...rest } = task;
  return { ...rest, ownerId: owner?.id ?? '' };
}
