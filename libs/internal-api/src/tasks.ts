import type { TaskChanged } from '@taskmesh/events';
import type { InternalApi } from './define.ts';

/** A place in one owner's feed. */
export interface FeedPosition {
  epoch: number;
  /** The last change at this place; 0 is before the first one. */
  sequence: number;
}

/** What tasks offers to other services. */
export interface TasksInternal {
  /** Where each owner's feed stands now: the last committed sequence, 0 for owners without any change. */
  heads(owners: string[]): Promise<{ epoch: number; heads: Record<string, number> }>;
  /** Committed changes of one owner behind `sequence`, in order, at most `limit` (1 to 1,000). `expired` when some of them are no longer kept: then `changes` is empty. */
  changesAfter(owner: string, sequence: number, limit: number): Promise<{ epoch: number; expired: boolean; changes: TaskChanged[] }>;
  /** Reads a cursor that a client sent; null when it is nonsense, another owner's, or of another epoch. */
  openCursor(owner: string, cursor: string): Promise<FeedPosition | null>;
}

export const tasksInternal: InternalApi<TasksInternal> = {
  service: 'tasks',
  names: ['heads', 'changesAfter', 'openCursor'],
};
