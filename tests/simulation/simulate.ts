import { createRandom } from '@taskmesh/testing';
import { OWNERS, TROUBLE_MS, UNREAD, type Step, type Schedule } from './schedule.ts';
import { guid } from './store.ts';
import { createChannelReader } from './channel-reader.ts';
import type { Reader } from './reader.ts';
import { createStreamReader } from './stream-reader.ts';
import { installVirtualTime } from './virtual-time.ts';
import { createWorld, type Tamper, type World } from './world.ts';

/** After the end of all faults, everything must arrive within this time. */
const RECOVERY_MS = 25_000;
const LOOK_EVERY_MS = 1_000;
const LAST_WORDS_EVERY_MS = 12_000;

const owners = Array.from({ length: OWNERS + UNREAD.length }, (_, index) => guid(0xa0_0000 + index));
const readOwners = owners.slice(0, OWNERS);

/** Runs one schedule in virtual time. */
export async function simulate({ seed, isNested, steps }: Schedule, tamper?: Tamper) {
  const random = createRandom(seed);
  const time = installVirtualTime(random);
  try {
    const hasDeletions = steps.some(({ what }) => what === 'delete');
    const world = await createWorld(time, { random, owners, hasDeletions, tamper });
    if (hasDeletions)
      for (const [index, count] of UNREAD.entries()) world.store.fill(owners[OWNERS + index] ?? '', count);
    return await live(world, createReaders(world, isNested), steps);
  } finally {
    time.uninstall();
  }
}

/**
 * Returns the promises that were not kept, and how many changes all clients received, and how often they subscribed, including restarts
 * and resumes.
 */
async function live(world: World, clients: Clients, steps: Step[]) {
  const { time, random } = world;
  const { readers } = clients;
  for (const reader of readers) void time.sleep(random() * 500).then(() => reader.come());
  for (const step of steps) {
    await time.runTo(step.at);
    perform(step, world, clients);
  }
  await time.runTo(TROUBLE_MS);
  world.faults.end();

  const missing = () => readers.flatMap((reader) => reader.missing());
  const undone = () => world.deletions?.findings() ?? [];
  for (let look = 0; look < RECOVERY_MS; look += LOOK_EVERY_MS) {
    if (look % LAST_WORDS_EVERY_MS === 0) lastWords(world);
    await time.runTo(TROUBLE_MS + look + LOOK_EVERY_MS);
    if (world.complaints.length > 0 || missing().length + undone().length === 0) break;
  }
  const contradictions = [...missing(), ...readers.flatMap((reader) => reader.misreported())];
  const found = [...world.complaints, ...undone(), ...contradictions.map(({ fault, what }) => `${fault}: ${what}`)];
  const findings = found.length > 0 ? found : await leftovers(world, readers);
  const segments = readers.flatMap((reader) => reader.segments());
  const received = segments.reduce((sum, segment) => sum + segment.received.length, 0);
  return { findings, received, subscriptions: segments.length };
}

/** Commits a last change per owner, to detect readers that receive nothing, and drops its record in the event log. */
function lastWords({ commit, faults }: World): void {
  for (const [index, owner] of readOwners.entries()) {
    faults.order({ kind: 'drop', owner: index });
    commit(owner);
  }
}

type Clients = ReturnType<typeof createReaders>;

/** `channels`: the readers that are channels. */
function createReaders(world: World, isNested: boolean) {
  const streams = readOwners.map((owner, index) =>
    createStreamReader(world, `stream ${index}`, isNested ? (owners[0] ?? owner) : owner, isNested),
  );
  const channels = readOwners.map((owner, index) => createChannelReader(world, `channel ${index}`, owner));
  return { readers: [...streams, ...channels] as Reader[], channels };
}

function perform(step: Step, { store, faults, deletions, commit }: World, { readers, channels }: Clients): void {
  const owner = 'owner' in step ? (owners[step.owner] ?? '') : '';
  const reader = 'reader' in step ? readers[step.reader] : undefined;
  const channel = channels.find((each) => each === reader);
  switch (step.what) {
    case 'write':
      for (let count = 0; count < step.count; count++) commit(owner);
      return;
    case 'restore':
      return store.restore();
    case 'forget':
      return store.forget(owner, step.kept);
    case 'fault':
      return faults.order(step.fault);
    case 'cut':
      return reader?.cut(step.awayMs);
    case 'stall':
      return reader?.stall(step.ms);
    case 'nonsense':
      return reader?.forgetCursor();
    case 'token':
      return channel?.push(owner, step.lifeMs);
    case 'fade':
      return channel?.fade({
        freshAfterMs: step.freshAfterMs,
        other: step.otherAfterMs === undefined ? undefined : { owner, afterMs: step.otherAfterMs },
      });
    case 'rejoin':
      return channel?.rejoin(step.isLate);
    case 'delete':
      return deletions?.delete(owner);
    case 'crash':
      return deletions?.crash(step.instance, step.awayMs);
    case 'away':
      return faults.away(step.ms);
    case 'new log':
      return deletions?.beginLogEpoch();
  }
}

/** Checks that nothing remains in the feed after all readers have left, and no timers after the product has stopped. */
async function leftovers(world: World, readers: Reader[]): Promise<string[]> {
  const { time } = world;
  for (const reader of readers) reader.leave();
  await time.runTo(time.now() + 3_000);
  const owned = world.feed.owners();
  const stopping = world.stop();
  await time.runTo(time.now() + 6_000);
  await stopping;
  return [
    ...world.complaints,
    ...(owned > 0 ? [`${owned} owners are read although no one is there`] : []),
    ...(time.pending() > 0 ? [`${time.pending()} timers are left`] : []),
  ];
}
