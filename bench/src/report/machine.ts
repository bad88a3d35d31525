import { cpus, release, totalmem, type } from 'node:os';

/** Where figures come from; without PostgreSQL where none is measured. */
type Machine = ReturnType<typeof describeMachine>;

export function describeMachine(postgres?: string) {
  const cores = cpus();
  return {
    system: `${type()} ${release().split('-')[0]}`,
    processor: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    ...(postgres !== undefined && { postgres }),
  };
}

/** What every report has. */
export interface Origin {
  /** RFC 3339 */
  startedAt: string;
  machine: Machine;
  /** CPU time that others took meanwhile, as a share of all cores: figures of a busy machine are to be taken again. */
  othersShare?: number;
}

/** With more of the machine in others' hands, the figures say little. */
const BUSY = 0.05;

export const isBusy = ({ othersShare = 0 }: Pick<Origin, 'othersShare'>) => othersShare > BUSY;

/** When, on what, and how: what stands above a table. */
export function describeOrigin({ startedAt, machine, othersShare = 0 }: Origin, how: string): string {
  const { system, processor, cores, memoryGiB, node, postgres } = machine;
  const on = `${cores} cores (${processor}), ${memoryGiB} GiB, ${system} · Node ${node.slice(1)}`;
  const busy = `Others took ${Math.round(othersShare * 100)} % of the machine meanwhile: to be taken again on a quiet one.`;
  return [
    `${startedAt.slice(0, 10)} · ${on}${postgres ? ` · PostgreSQL ${postgres}` : ''}`,
    how,
    ...(isBusy({ othersShare }) ? [busy] : []),
  ].join('  \n');
}
