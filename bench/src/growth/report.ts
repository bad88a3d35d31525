import { digits, median } from '../figures.ts';
import { describeOrigin, type Origin } from '../report/machine.ts';
import { table, type Column } from '../report/table.ts';
import type { EventCost } from './measure-events.ts';
import type { RequestCost } from './measure-requests.ts';

export interface GrowthReport extends Origin {
  parameters: { seconds: number; rounds: number; eventSeconds: number };
  requests: RequestCost[];
  events: EventCost[];
}

/** The pages and the CPU of each kind of request, by owner and store, and what an event costs. */
export function describeGrowth(report: GrowthReport): Record<string, string> {
  const { parameters, requests, events } = report;
  const how = `requests one after the other, ${parameters.seconds} s of each · events: median of ${parameters.rounds} rounds of ${parameters.eventSeconds} s`;
  const parts = [describeOrigin(report, how), ...(requests.length > 0 ? [requestTables(requests)] : [])];
  if (events.length > 0) parts.push(eventTable(events));
  return { 'growth figures': parts.join('\n\n') };
}

interface Row {
  operation: string;
  cells: RequestCost[];
}

function requestTables(requests: readonly RequestCost[]): string {
  const owners = [...new Set(requests.map(({ owner }) => owner))];
  const stores = [...new Set(requests.map(({ store }) => store))];
  const rows = [...Map.groupBy(requests, ({ operation }) => operation)].map(([operation, cells]): Row => ({
    operation,
    cells,
  }));
  const columns = (of: (cost: RequestCost) => number) =>
    stores.flatMap((store) =>
      owners.map((owner): Column<Row> => {
        const found = ({ cells }: Row) => cells.find((cell) => cell.owner === owner && cell.store === store);
        const figure = (row: Row) => {
          const cost = found(row);
          return cost ? of(cost) : '';
        };
        return [`${short(owner)} of ${short(store)}`, figure];
      }),
    );
  const words: Column<Row>[] = [
    ['request', ({ operation, cells }) => (cells.some(({ grows }) => grows) ? `${operation} (grows)` : operation)],
  ];
  return [
    '**Pages of tasks, their keys and feeds that are looked at**, by tasks of the owner and of the store',
    table(rows, { words, figures: columns(({ pages }) => pages) }),
    '**CPU-ms, server + PostgreSQL**',
    table(rows, { words, figures: columns(({ server, postgres }) => server + postgres) }),
    '**CPU-ms, PostgreSQL alone**',
    table(rows, { words, figures: columns(({ postgres }) => postgres) }),
  ].join('\n\n');
}

const short = (count: number) => count.toLocaleString('en');

function eventTable(events: readonly EventCost[]): string {
  const all = (values: number[]) => values.map(digits).join(', ');
  return [
    '**An event of one owner, beside sockets of others**',
    table(events, {
      words: [['sockets of others', ({ sockets }) => short(sockets)]],
      figures: [
        ['CPU-ms per event', ({ perEvent }) => median(perEvent)],
        ['rounds', ({ perEvent }) => all(perEvent)],
        ['CPU-ms/s without events', ({ idle }) => median(idle)],
      ],
    }),
  ].join('\n\n');
}
