import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { Closers, createLog } from '@taskmesh/service';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCommitter, type Committer } from '../load/committer.ts';
import { cpuOf, roundMsFrom, roundsPerS, type Amounts, type Costs } from '../model/work.ts';
import type { Stretch } from '../stretch.ts';
import { standing, type Run } from './run.ts';

const COMMITS_PER_S = 200;
const EXTRA_READERS = 3;
const OWNERS = 500;
/** What the relay asks besides its rounds while it is busy: who else writes (every 250 ms), and a sign of life. */
const LOOKS_PER_S = 5;

/**
 * The way of a change from the log to the gateways: in a backlog rounds are full, so what a change costs shows; single
 * commits show what a round costs. Nobody listens. More readers tell what each of them costs Kafka.
 */
export async function learnRelay(run: Run, idle: Stretch) {
  const { stack, seconds } = run;
  await using closers = new Closers();
  const committer = await createCommitter(stack.tasksDatabase);
  closers.add(committer.close);
  const owners = Array.from({ length: OWNERS }, () => randomUUID());
  const commits = () => committer.atRandom(owners, { perSecond: COMMITS_PER_S, seconds });

  await catchUp(run, committer);
  await stack.stores.vacuum();
  let catchUpSeconds = NaN;
  const backlog = await run.measure('a backlog', async () => (catchUpSeconds = await catchUp(run, committer)));
  const inBacklog: Amounts = { change: run.backlog, record: run.backlog };
  run.learn('change', ['tasks', 'postgres', 'kafka'], inBacklog, ofRelay(run, backlog));
  run.learn('record', ['gateway'], inBacklog, backlog);

  const vacuum = await run.measure('its vacuum', stack.stores.vacuum);
  run.costs = withVacuum(run.costs, vacuum.cpu.postgres / run.backlog);

  await commits();
  const single = await run.measure('single commits', commits);
  const changes = Math.round(COMMITS_PER_S * seconds);
  const roundMs = roundMsFrom(COMMITS_PER_S, transactionsIn(single, idle, changes) / seconds);
  const rounds = roundsPerS(COMMITS_PER_S, roundMs) * seconds;
  const inSingle: Amounts = { change: changes, record: changes, round: rounds, fetch: rounds };
  run.learn('round', ['tasks', 'postgres', 'kafka'], inSingle, ofRelay(run, single));
  run.learn('fetch', ['gateway'], inSingle, single);

  closers.add(await openExtraReaders(stack.kafka));
  const reading = ({ record = 0, fetch = 0, ...rest }: Amounts, taken: Stretch): Amounts => ({
    ...{ ...rest, record: EXTRA_READERS * record, fetch: EXTRA_READERS * fetch },
    gateway: taken.seconds * (1 + EXTRA_READERS),
  });
  const beside = await run.measure('a backlog beside more readers', () => catchUp(run, committer));
  run.learn('record', ['kafka'], reading(inBacklog, beside), beside);
  const besideSingle = await run.measure('single commits beside more readers', commits);
  run.learn('fetch', ['kafka'], reading(inSingle, besideSingle), besideSingle);
  await stack.stores.vacuum(); // or it happens while something else is measured
  run.costs = withoutFirstReader(run.costs);
  return { roundMs, relayPerS: run.backlog / catchUpSeconds, backlog };
}

/** Reads the topic as gateways do, and does nothing with it. */
async function openExtraReaders(broker: string): Promise<() => Promise<void>> {
  const log = createLog({ service: 'load', level: 'warn' });
  const eventLog = createKafkaEventLog({ brokers: [broker], clientId: 'bench-readers', log });
  const readers = Array.from({ length: EXTRA_READERS }, () => eventLog.read(TASK_CHANGES_TOPIC, () => undefined));
  await Promise.all(readers.map((reader) => reader.ready()));
  return () => eventLog.close();
}

/** Commits many changes at once; the seconds from then until all are published. */
async function catchUp({ backlog, stack }: Run, committer: Committer): Promise<number> {
  await committer.together(Array.from({ length: backlog }, () => randomUUID()));
  const start = performance.now();
  while (!(await stack.stores.isPublished())) await sleep(20);
  return (performance.now() - start) / 1_000;
}

/** Of the relay; each commit of the load is one, too. While it is busy the relay does not poll. */
function transactionsIn(single: Stretch, idle: Stretch, changes: number): number {
  const whileIdle = (idle.counts.commits / idle.countedSeconds) * (single.countedSeconds - single.seconds);
  return Math.max(1, single.counts.commits - whileIdle - changes - LOOKS_PER_S * single.seconds);
}

/** Of PostgreSQL the relay's session alone: what else it does belongs to the load. */
function ofRelay({ costs }: Run, { cpu, relaySession, seconds }: Stretch): Pick<Stretch, 'cpu' | 'seconds'> {
  return { seconds, cpu: { ...cpu, postgres: relaySession + cpuOf(standing(seconds), costs).postgres } };
}

/** Each change leaves a dead row behind when it is marked; autovacuum comes once a minute, and is asked for here. */
function withVacuum(costs: Costs, ms: number): Costs {
  return { ...costs, change: { ...costs.change, postgres: (costs.change?.postgres ?? 0) + ms } };
}

/** So far the one gateway is part of what publishing costs Kafka. */
function withoutFirstReader(costs: Costs): Costs {
  const { change, record, round, fetch } = costs;
  const less = (all = 0, part = 0) => Math.max(0, all - part);
  return {
    ...costs,
    change: { ...change, kafka: less(change?.kafka, record?.kafka) },
    round: { ...round, kafka: less(round?.kafka, fetch?.kafka) },
  };
}
