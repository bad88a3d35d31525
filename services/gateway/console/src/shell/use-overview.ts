import type { LiveStatus, TaskmeshError } from '@taskmesh/client';
import { useLiveTasks } from '@taskmesh/client/react';
import { useMemo } from 'preact/hooks';
import { useClient } from '../client-context.ts';

/** The numbers of tasks, updated live without further requests. */
export interface Overview {
  total: number;
  open: number;
  /** The state of the live connection. */
  status: LiveStatus;
  error: TaskmeshError | undefined;
}

/** Whether the server is unreachable, so that the page may be outdated. */
export const isUnavailable = ({ status }: Overview): boolean => status === 'reconnecting';

const ALL = { first: 1 };
const OPEN = { filter: { completed: false }, first: 1 };

export function useOverview(): Overview {
  const client = useClient();
  const all = useLiveTasks(client, ALL);
  const { totalCount: open } = useLiveTasks(client, OPEN);
  const { totalCount: total, status, error } = all;
  return useMemo(() => ({ total, open: Math.min(open, total), status, error }), [total, open, status, error]);
}
