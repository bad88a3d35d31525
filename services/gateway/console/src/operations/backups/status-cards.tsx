import { useState } from 'preact/hooks';
import { Confirm } from '../../elements/confirm.tsx';
import { Ago, Moment } from '../../elements/times.tsx';
import { Button, Failure, Section } from '../../elements/view.tsx';
import type { Reading } from '../../requests/use-reading.ts';
import { useApi } from '../api/operators-api.ts';
import type { BackupsStatus, Schedule, UndoableRestore } from '../api/types.ts';
import { Facts } from '../overview/facts.tsx';
import { useOngoingWork } from '../work/work.tsx';
import { describeRetention, formatDuration } from '../format.ts';

export function UndoCard({ undoable, isBusy }: { undoable: UndoableRestore; isBusy: boolean }) {
  const api = useApi();
  const { run } = useOngoingWork();
  const [isConfirming, setIsConfirming] = useState(false);
  const { file, isUndo, restoredAt, keptUntil, replacedKeptMs } = undoable;
  const step = isUndo ? 'undo' : 'restore';

  const undo = async () => {
    setIsConfirming(false);
    await run(`Undoing the ${step}`, (onProgress) =>
      api.work(`/backup/undo?restoredAt=${encodeURIComponent(restoredAt)}`, onProgress),
    );
  };
  return (
    <Section title="Undo">
      <p>
        {isUndo ? (
          <>
            The last undo was <Ago at={restoredAt} />, for the archive <span class="file">{file}</span>.
          </>
        ) : (
          <>
            The archive <span class="file">{file}</span> was restored <Ago at={restoredAt} />.
          </>
        )}{' '}
        You can undo it until <Moment at={keptUntil} />, or the next restore. The data from before comes back.
      </p>
      <Button text={`Undo the ${step}…`} disabled={isBusy} onClick={() => setIsConfirming(true)} />
      {isConfirming && (
        <Confirm
          title={`Undo the last ${step}?`}
          action="Undo it"
          onConfirm={() => void undo()}
          onCancel={() => setIsConfirming(false)}
        >
          <p>
            The data from before the {step} comes back.{' '}
            {replacedKeptMs > 0
              ? 'What was written since is kept for a while: another undo brings it back.'
              : 'What was written since is removed for good.'}
          </p>
        </Confirm>
      )}
    </Section>
  );
}

/** Shown while it is unknown whether an undo is possible; with no card at all, it would seem impossible. */
export function UndoUnknown({ onAgain }: { onAgain: () => void }) {
  return (
    <Section title="Undo">
      <p class="soft">At the moment, the server cannot tell whether the last restore can be undone.</p>
      <Button text="Check again" onClick={onAgain} />
    </Section>
  );
}

const STORAGE_LABELS = { directory: 'A directory on the server', bucket: 'A bucket' };

/** The settings of the installation, which cannot be changed here. */
export function Rules({ status: { data, error, again } }: { status: Reading<BackupsStatus | null> }) {
  return (
    <Section title="Schedule and retention">
      <Failure error={error} onAgain={() => void again()} />
      {data === null && <p class="soft">The backup service does not respond at the moment.</p>}
      {data && <Facts facts={factsOf(data)} />}
      <p class="soft small">
        Configured where the platform runs: BACKUP_SCHEDULE, BACKUP_VERIFY_SCHEDULE, BACKUP_KEEP, RESTORE_KEEP_OLD.
      </p>
    </Section>
  );
}

function factsOf(backups: BackupsStatus): Parameters<typeof Facts>[0]['facts'] {
  const { schedule, verifySchedule, verifiesScheduled, keep, place, isEncrypted, undoableMs } = backups;
  return [
    ['Archives are made', <When schedule={schedule} />],
    ['Each of those is verified', schedule && verifiesScheduled ? 'at once' : 'on request only'],
    ['Verified again', <When schedule={verifySchedule} />],
    ['Scheduled archives kept', describeRetention(keep)],
    ['Where', `${STORAGE_LABELS[place]}, ${isEncrypted ? 'encrypted' : 'not encrypted'}`],
    ['A restore can be undone for', undoableMs > 0 ? formatDuration(undoableMs / 1_000) : 'no time at all'],
  ];
}

function When({ schedule }: { schedule: Schedule | null }) {
  if (!schedule) return <>on request only</>;
  const { pattern, nextAt, failingSince } = schedule;
  return (
    <>
      <code>{pattern}</code> (UTC)
      {nextAt && (
        <>
          , next on <Moment at={nextAt} />
        </>
      )}
      {failingSince && (
        <span class="mark bad">
          {' '}
          failing since <Moment at={failingSince} />
        </span>
      )}
    </>
  );
}
