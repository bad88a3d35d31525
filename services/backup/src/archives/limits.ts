/** What an archive may cost at the most; one that costs more is refused. */
export interface ArchiveLimits {
  compressedBytes: number;
  /** Lowered to a quarter of the free disk space when that is less. */
  expandedBytes: number;
  entries: number;
  nameLength: number;
  depth: number;
  timeoutMs: number;
}

const MIB = 1024 * 1024;

export const ARCHIVE_LIMITS: ArchiveLimits = {
  compressedBytes: 256 * MIB,
  expandedBytes: 512 * MIB,
  entries: 10_000,
  nameLength: 1_024,
  depth: 32,
  timeoutMs: 120_000,
};
