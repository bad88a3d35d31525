import type { LiveStatus, TaskmeshError } from '@taskmesh/client';
import { useLiveTasks } from '@taskmesh/client/react';
import { useMemo } from 'preact/hooks';
import { useClient } from '../client-context.ts';

/** The number of tasks, updated with each change without another request. */
export interface Overview {
  total: number;
  open: number;
  /** The state of the connection that brings the changes. */
  status: LiveStatus;
  error: TaskmeshError | undefined;
}

/** Whether the server does not answer, and what is shown may be outdated. */
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
