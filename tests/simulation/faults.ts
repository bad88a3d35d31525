import { unavailable } from '@taskmesh/contracts';
import type { TasksInternal } from '@taskmesh/internal-api';
import type { EventLog, LogRecord } from '@taskmesh/event-log';
import type { VirtualTime } from './virtual-time.ts';

export const CALLS = [
  ...['heads', 'changesAfter', 'openCursor', 'authenticate', 'foreign'],
  // Of the instances that delete what is left of accounts: what they ask auth, and their statements.
  ...['accountChanges', 'owners'],
] as const;
export type Call = (typeof CALLS)[number];

/** What goes wrong with the next call of a name, or the next record of an owner. */
export type Fault =
  | { kind: 'late question'; call: Call; ms: number }
  /** Given at once, and long on its way: a restore may come between. */
  | { kind: 'late answer'; call: Call; ms: number }
  | { kind: 'lost'; call: Call; ms: number }
  | { kind: 'drop'; owner: number }
  /** Everything of the owner's partition comes later, in its order. */
  | { kind: 'hold'; owner: number; ms: number }
  /** The record comes again so much later, behind newer ones. */
  | { kind: 'repeat'; owner: number; ms: number }
  | { kind: 'garble'; owner: number };

/** How long any call takes, there and back. */
const LATENCY_MS = 4;

/** Everything between the parts of the world: as it is when all is well, but for what was ordered. */
export function createFaults(time: VirtualTime, random: () => number, owners: readonly string[]) {
  let ordered: Fault[] = [];
  /** When the last record of each owner comes: none overtakes another. */
  const arrival = new Map<string, number>();
  let awayUntil = 0;

  const take = <Kind extends Fault['kind']>(
    kinds: readonly Kind[],
    concerns: (fault: Extract<Fault, { kind: Kind }>) => boolean,
  ): Extract<Fault, { kind: Kind }> | undefined => {
    const index = ordered.findIndex(
      (fault) => kinds.includes(fault.kind as Kind) && concerns(fault as Extract<Fault, { kind: Kind }>),
    );
    return index < 0 ? undefined : (ordered.splice(index, 1)[0] as Extract<Fault, { kind: Kind }>);
  };

  const call = async <Answer>(name: Call, work: () => Promise<Answer>): Promise<Answer> => {
    const fault = take(['late question', 'late answer', 'lost'], (each) => each.call === name);
    await time.sleep(random() * LATENCY_MS + (fault?.kind === 'late question' ? fault.ms : 0));
    if (fault?.kind === 'lost') {
      await time.sleep(fault.ms);
      throw unavailable();
    }
    const answer = await work();
    await time.sleep(random() * LATENCY_MS + (fault?.kind === 'late answer' ? fault.ms : 0));
    return answer;
  };

  /** A record on its way to the gateway. */
  const carry = (record: LogRecord, onRecord: (record: LogRecord) => void) => {
    const ofOwner = (kind: Fault['kind']) =>
      take([kind], (fault) => 'owner' in fault && owners[fault.owner] === record.key);
    if (ofOwner('drop')) return;
    const hold = ofOwner('hold');
    const repeat = ofOwner('repeat');
    const garbled = ofOwner('garble') ? { ...record, value: record.value.slice(0, 20) } : record;
    const at = Math.max(
      arrival.get(record.key) ?? 0,
      time.now() + (hold && 'ms' in hold ? hold.ms : random() * LATENCY_MS),
    );
    arrival.set(record.key, at + 0.001);
    const deliver = async (to: number, what: LogRecord) => {
      await time.sleep(to - time.now());
      onRecord(what);
    };
    void deliver(at, garbled);
    if (repeat && 'ms' in repeat) void deliver(at + repeat.ms, record);
  };

  return {
    order: (fault: Fault) => void ordered.push(fault),
    /** For so long the event log takes nothing. */
    away: (ms: number) => void (awayUntil = time.now() + ms),
    /** All is well from now on. */
    end() {
      ordered = [];
      awayUntil = 0;
    },
    call,
    tasks: (tasks: TasksInternal): TasksInternal => ({
      heads: (...asked) => call('heads', () => tasks.heads(...asked)),
      changesAfter: (...asked) => call('changesAfter', () => tasks.changesAfter(...asked)),
      openCursor: (...asked) => call('openCursor', () => tasks.openCursor(...asked)),
      reportUnreadable: (record) => tasks.reportUnreadable(record),
    }),
    publishingTo: (eventLog: EventLog): EventLog => ({
      ...eventLog,
      async publish(...records) {
        if (time.now() < awayUntil) throw new Error('The event log is away.');
        return eventLog.publish(...records);
      },
    }),
    readingFrom: (eventLog: EventLog): EventLog => ({
      ...eventLog,
      read: (topic, onRecord) => eventLog.read(topic, (record) => carry(record, onRecord)),
    }),
  };
}
