import { describeOrigin, type Origin } from '../report/machine.ts';
import { table } from '../report/table.ts';
import type { Idle } from './measure-idle.ts';
import type { StartsMeasured } from './measure-starts.ts';
import type { SubscriberMemory } from './measure-subscribers.ts';
import type { StartOptions } from './options.ts';

/** Everything a run found. */
export interface StartReport extends Origin {
  parameters: Pick<StartOptions, 'starts' | 'idleSeconds' | 'sockets'>;
  starts: StartsMeasured[];
  idle?: Idle | undefined;
  subscribers: SubscriberMemory[];
}

const MIB = 2 ** 20;
const KIB = 1024;

/** Where and when, and a table of each part that was measured. */
export function describeStart(report: StartReport): Record<string, string> {
  const { parameters, starts, idle, subscribers } = report;
  const [few, many] = parameters.sockets.map((count) => count.toLocaleString('en'));
  const how = `median of ${parameters.starts} starts of each kind, taking turns · idle for ${parameters.idleSeconds} s · ${few} and ${many} subscribers, an owner for each`;
  const parts = [describeOrigin(report, how)];
  if (starts.length > 0) parts.push(`**Until it is ready**\n\n${startTable(starts)}`);
  if (idle) parts.push(`**Idle**\n\n${idleTable(idle)}`);
  if (subscribers.length > 0) parts.push(`**What a subscriber adds**\n\n${subscriberTable(subscribers)}`);
  return { 'start figures': parts.join('\n\n') };
}

function startTable(starts: readonly StartsMeasured[]): string {
  return table(starts, {
    words: [['start', ({ kind }) => kind]],
    figures: [
      ['ready after ms', ({ readyMs }) => readyMs],
      ['quickest', ({ rounds }) => Math.min(...rounds.map(({ readyMs }) => readyMs))],
      ['slowest', ({ rounds }) => Math.max(...rounds.map(({ readyMs }) => readyMs))],
      ['CPU-ms', ({ cpuMs }) => cpuMs],
    ],
  });
}

function idleTable({ resident, collected, held, cpuMsPerS }: Idle): string {
  const rows = [
    { what: 'as it is', ...resident },
    { what: 'all garbage collected', ...collected },
  ];
  const figures = table(rows, {
    words: [['memory', ({ what }) => what]],
    figures: [
      ['resident MiB', ({ all }) => all / MIB],
      ['of that its own', ({ own }) => own / MIB],
    ],
  });
  return `${figures}\n\n${(held / MIB).toFixed(1)} MiB of it are V8's heap and what belongs to it. CPU: ${cpuMsPerS.toFixed(1)} ms per second.`;
}

function subscriberTable(subscribers: readonly SubscriberMemory[]): string {
  return table(subscribers, {
    words: [['over', ({ protocol }) => protocol]],
    figures: [
      ['KiB held', ({ held }) => (held / KIB).toFixed(1)],
      ['KiB resident', ({ resident }) => (resident / KIB).toFixed(1)],
    ],
  });
}
