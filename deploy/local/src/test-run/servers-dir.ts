import { ifThere, makeRunDir, type RunDir } from '@taskmesh/local-servers';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';

/** A file system in memory, where Linux has one. */
const MEMORY = '/dev/shm';
/** Databases, logs and event logs of a run take less than half of it. */
const ROOM_BYTES = 4 * 1024 ** 3;

/**
 * A directory for the servers of a run. In memory where there is room: on a disk, each of the many databases waits for ext4
 * to find inodes not deleted just now.
 */
export function makeServersDir(cacheDir: string): Promise<RunDir> {
  const parent = hasRoom(MEMORY) ? join(MEMORY, `taskmesh-${process.getuid?.() ?? 0}`) : cacheDir;
  return makeRunDir(parent, 'test-servers-');
}

function hasRoom(dir: string): boolean {
  const { bavail, bsize } = ifThere(() => statfsSync(dir)) ?? { bavail: 0, bsize: 0 };
  return bavail * bsize >= ROOM_BYTES;
}
