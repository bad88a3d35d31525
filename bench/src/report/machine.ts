import { cpus, release, totalmem, type } from 'node:os';

/** Where the figures come from. */
export interface Machine {
  system: string;
  processor: string;
  cores: number;
  memoryGiB: number;
  node: string;
  /** Absent where none is measured. */
  postgres?: string;
}

export function describeMachine(postgres?: string): Machine {
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
