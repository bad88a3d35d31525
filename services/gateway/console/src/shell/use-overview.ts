import type { LiveStatus, TaskmeshError } from '@taskmesh/client';
import { useLiveTasks } from '@taskmesh/client/react';
import { useMemo } from 'preact/hooks';
import { useClient } from '../client-context.ts';

/** How many tasks there are: it moves with each change, as lists do, and nothing is read again for it. */
export interface Overview {
  total: number;
  open: number;
  /** Of the connection that tells. */
  status: LiveStatus;
  error: TaskmeshError | undefined;
}

/** Nobody answers: what is shown is as it was. */
export const isAway = ({ status }: Overview): boolean => status === 'reconnecting';

const ALL = { first: 1 };
const OPEN = { filter: { completed: false }, first: 1 };

export function useOverview(): Overview {
  const client = useClient();
  const all = useLiveTasks(client, ALL);
  const { totalCount: open } = useLiveTasks(client, OPEN);
  const { totalCount: total, status, error } = all;
  return useMemo(() => ({ total, open: Math.min(open, total), status, error }), [total, open, status, error]);
}
