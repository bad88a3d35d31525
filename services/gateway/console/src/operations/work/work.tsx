import { createContext } from 'preact';
import { useCallback, useContext, useMemo, useState } from 'preact/hooks';
import { Moment, Sentence } from '../../elements/times.tsx';
import { useLeaveGuard } from '../../elements/use-leave-guard.ts';
import { Button } from '../../elements/view.tsx';
import { explain } from '../../requests/explain.ts';
import type { OperatorsApi } from '../api/operators-api.ts';
import type { Progress, WorkEnd } from '../api/types.ts';
import { describeAmount, describePhase, shareOf } from './describe-phase.ts';

/** Runs one long operation at a time, which continues when another view is opened. */
export interface Work {
  /** The running operation and its progress. */
  running: { title: string; progress: Progress | undefined } | undefined;
  /** The outcome of the last operation, until it is dismissed. */
  ended: Ended | undefined;
  run(title: string, work: (onProgress: (progress: Progress) => void) => Promise<WorkEnd | void>): Promise<boolean>;
  dismiss(): void;
}

export interface Ended {
  title: string;
  end?: WorkEnd | undefined;
  error?: unknown;
}

export const WorkContext = createContext<Work | undefined>(undefined);

export function useOngoingWork(): Work {
  const work = useContext(WorkContext);
  if (!work) throw new Error('This component is not inside a WorkContext.');
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
  const dismiss = useCallback(() => setEnded(undefined), []);
  return useMemo(() => ({ running, ended, run, dismiss }), [running, ended, run, dismiss]);
}

/** Shows the running operation with its progress, or the outcome of the last one. */
export function WorkCard() {
  const { running, ended, dismiss } = useOngoingWork();
  return (
    <div role="status" class="work-place">
      {running && <Running running={running} />}
      {ended && <EndOf ended={ended} onDismiss={dismiss} />}
    </div>
  );
}

function Running({ running: { title, progress } }: { running: NonNullable<Work['running']> }) {
  const amount = progress && describeAmount(progress);
  return (
    <section class="card work" aria-label={title}>
      <h2>{title}</h2>
      <progress aria-label={title} value={progress && shareOf(progress)} />
      <p class="soft">
        {progress ? describePhase(progress) : 'Starting'}
        {/* Hidden from screen readers, because the numbers change too often. */}
        {amount && <span aria-hidden="true">: {amount}</span>}
      </p>
    </section>
  );
}

function EndOf({ ended: { title, end, error }, onDismiss }: { ended: Ended; onDismiss: () => void }) {
  const isGood = error === undefined && end?.databaseRestored !== false;
  return (
    <section class={isGood ? 'card work done' : 'card work failed'} aria-label={title}>
      <h2>
        {title}: {isGood ? 'done' : 'failed'}
      </h2>
      <p>
        <Sentence text={error === undefined ? messageOf(end) : explain(error)} />
      </p>
      {end && <Details end={end} />}
      <Button text="Dismiss" onClick={onDismiss} />
    </section>
  );
}

/** The contract requires this text in every response to a restore, but no restart is needed. */
const NO_RESTART = '; the application may need a restart';

function messageOf(end: WorkEnd | undefined): string {
  return end?.message.replace(NO_RESTART, '') ?? 'Done.';
}

function Details({ end: { dropped = [], safetyBackup, keptUntil } }: { end: WorkEnd }) {
  return (
    <>
      {dropped.length > 0 && <p class="soft">Left out: {dropped.join(', ')}.</p>}
      {safetyBackup && <p class="soft">The data from before is in {safetyBackup}.</p>}
      {keptUntil && (
        <p class="soft">
          You can undo it until <Moment at={keptUntil} />, or the next restore.
        </p>
      )}
    </>
  );
}
