import type { Progress } from '../api/types.ts';
import { formatSize } from '../format.ts';

const STORES: Record<string, string> = { tasks: 'the tasks', auth: 'the accounts' };

/** Describes the current phase. */
export function describePhase({ phase, store }: Progress): string {
  const what = store === undefined ? 'the archive' : (STORES[store] ?? store);
  const words: Partial<Record<string, string>> = {
    dump: `Reading ${what}`,
    compress: 'Packing the archive',
    extract: 'Unpacking the archive',
    load: `Loading ${what}`,
    check: `Checking ${what}`,
    swap: 'Putting everything in its place',
    upload: 'Sending the archive',
  };
  return words[phase] ?? `${phase.charAt(0).toUpperCase()}${phase.slice(1)}`;
}

/** Describes the progress within the phase, if known. */
export function describeAmount({ doneBytes, totalBytes }: Progress): string | undefined {
  if (doneBytes !== undefined && totalBytes) return `${formatSize(doneBytes)} of ${formatSize(totalBytes)}`;
  return doneBytes === undefined ? undefined : formatSize(doneBytes);
}

/** Returns the completed share from 0 to 1; undefined if unknown. */
export function shareOf({ doneBytes, totalBytes }: Progress): number | undefined {
  return doneBytes !== undefined && totalBytes ? Math.min(doneBytes / totalBytes, 1) : undefined;
}
