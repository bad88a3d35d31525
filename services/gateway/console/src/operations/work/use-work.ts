import { createContext } from 'preact';
import { useCallback, useContext, useMemo, useState } from 'preact/hooks';
import { useLeaveGuard } from '../../elements/use-leave-guard.ts';
import type { OperatorsApi } from '../api/operators-api.ts';
import type { Progress, WorkEnd } from '../api/types.ts';

/** Long operations: one at a time, which continues when another view is opened. */
export interface Work {
  /** The name of the running operation, and its progress. */
  running: { title: string; progress: Progress | undefined } | undefined;
  /** How the last one ended, until it is dismissed. */
  ended: Ended | undefined;
  run(title: string, work: (onProgress: (progress: Progress) => void) => Promise<WorkEnd | void>): Promise<boolean>;
  putAway(): void;
}

export interface Ended {
  title: string;
  end?: WorkEnd | undefined;
  error?: unknown;
}

export const WorkContext = createContext<Work | undefined>(undefined);

export function useOngoingWork(): Work {
  const work = useContext(WorkContext);
  if (!work) throw new Error('There is no work around this component.');
  return work;
}

export function useWork(api: OperatorsApi): Work {
  const [running, setRunning] = useState<Work['running']>();
  const [ended, setEnded] = useState<Ended>();
  useLeaveGuard(running !== undefined);
  const run = useCallback<Work['run']>(
    async (title, work) => {
      setEnded(undefined);
      setRunning({ title, progress: undefined });
      try {
        const end = await work((progress) => setRunning({ title, progress }));
        setEnded({ title, end: end ?? undefined });
        return true;
      } catch (error) {
        setEnded({ title, error });
        return false;
      } finally {
        setRunning(undefined);
      }
    },
    [api],
  );
  const putAway = useCallback(() => setEnded(undefined), []);
  return useMemo(() => ({ running, ended, run, putAway }), [running, ended, run, putAway]);
}
