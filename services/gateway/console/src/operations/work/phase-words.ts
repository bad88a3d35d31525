import type { Progress } from '../api/types.ts';
import { sizeInWords } from '../words.ts';

const STORES: Record<string, string> = { tasks: 'the tasks', auth: 'the accounts' };

/** The current phase in words. */
export function phaseInWords({ phase, store }: Progress): string {
  const what = store === undefined ? 'the archive' : (STORES[store] ?? store);
  switch (phase) {
    case 'dump':
      return `Reading ${what}`;
    case 'compress':
      return 'Packing the archive';
    case 'extract':
      return 'Unpacking the archive';
    case 'load':
      return `Loading ${what}`;
    case 'check':
      return `Checking ${what}`;
    case 'swap':
      return 'Putting everything in its place';
    case 'upload':
      return 'Sending the archive';
    default:
      return `${phase.charAt(0).toUpperCase()}${phase.slice(1)}`;
  }
}

/** The progress within the phase, if known. */
export function amountInWords({ doneBytes, totalBytes }: Progress): string | undefined {
  if (doneBytes !== undefined && totalBytes) return `${sizeInWords(doneBytes)} of ${sizeInWords(totalBytes)}`;
  return doneBytes === undefined ? undefined : sizeInWords(doneBytes);
}

/** From 0 to 1; undefined when unknown. */
export function shareOf({ doneBytes, totalBytes }: Progress): number | undefined {
  return doneBytes !== undefined && totalBytes ? Math.min(doneBytes / totalBytes, 1) : undefined;
}
