import { unavailable } from '@taskmesh/contracts';
import type { TasksInternal } from '@taskmesh/internal-api';
import type { EventLog, LogRecord } from '@taskmesh/event-log';
import type { VirtualTime } from './virtual-time.ts';

export const CALLS = [
  ...['heads', 'changesAfter', 'openCursor', 'authenticate', 'foreign'],
  // The calls of the instances that delete accounts: to auth, and to their store.
  ...['accountChanges', 'owners'],
] as const;
export type Call = (typeof CALLS)[number];

/** A fault in the next call with a name, or in the next record of an owner. */
export type Fault =
  | { kind: 'late question'; call: Call; ms: number }
  /** Computed at once, but delivered late, so that a restore may happen in between. */
  | { kind: 'late answer'; call: Call; ms: number }
  | { kind: 'lost'; call: Call; ms: number }
  | { kind: 'drop'; owner: number }
  /** All records of the owner's partition are delayed, in order. */
  | { kind: 'hold'; owner: number; ms: number }
  /** The record is repeated after this time, after newer ones. */
  | { kind: 'repeat'; owner: number; ms: number }
  | { kind: 'garble'; owner: number };

/** The maximum latency of a call in each direction. */
const LATENCY_MS = 4;

/** Simulates the connections between the parts of the world, which work except for the faults ordered. */
export function createFaults(time: VirtualTime, random: () => number, owners: readonly string[]) {
  let ordered: Fault[] = [];
  /** The arrival of each owner's last record, which no later record may overtake. */
  const arrival = new Map<string, number>();
  let awayUntil = 0;

  const take = (concerns: (fault: Fault) => boolean): Fault | undefined => {
    const index = ordered.findIndex(concerns);
    return index < 0 ? undefined : ordered.splice(index, 1)[0];
  };

  const call = async <Answer>(name: Call, work: () => Promise<Answer>): Promise<Answer> => {
    const fault = take((each) => 'call' in each && each.call === name);
    await time.sleep(random() * LATENCY_MS + (fault?.kind === 'late question' ? fault.ms : 0));
    if (fault?.kind === 'lost') {
      await time.sleep(fault.ms);
      throw unavailable();
    }
    const answer = await work();
    await time.sleep(random() * LATENCY_MS + (fault?.kind === 'late answer' ? fault.ms : 0));
    return answer;
  };

  /** Delivers a record to the gateway. */
  const carry = (record: LogRecord, onRecord: (record: LogRecord) => void) => {
    const ofOwner = (kind: Fault['kind']) =>
      take((fault) => fault.kind === kind && 'owner' in fault && owners[fault.owner] === record.key);
    if (ofOwner('drop')) return;
    const hold = ofOwner('hold');
    const repeat = ofOwner('repeat');
    const garbled = ofOwner('garble') ? { ...record, value: record.value.slice(0, 20) } : record;
    const lateMs = hold && 'ms' in hold ? hold.ms : random() * LATENCY_MS;
    const at = Math.max(arrival.get(record.key) ?? 0, time.now() + lateMs);
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
    /** Makes the event log unavailable for publishers for this time. */
    away: (ms: number) => void (awayUntil = time.now() + ms),
    /** Removes all faults. */
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
