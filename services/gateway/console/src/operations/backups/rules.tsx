import { Moment } from '../../elements/times.tsx';
import { Section } from '../../elements/view.tsx';
import type { Reading } from '../../requests/use-reading.ts';
import type { BackupsStatus, Schedule } from '../api/types.ts';
import { Facts } from '../overview/facts.tsx';
import { Problem } from '../problem.tsx';
import { keepInWords, spanInWords } from '../words.ts';

const PLACES = { directory: 'A directory on the server', bucket: 'A bucket' };

/** The installation's settings, which cannot be changed here. */
export function Rules({ status: { data, error, again } }: { status: Reading<BackupsStatus | null> }) {
  return (
    <Section title="Schedule and retention">
      <Problem error={error} onAgain={() => void again()} />
      {data === null && <p class="soft">The backup service does not answer at the moment.</p>}
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
    ['Scheduled archives kept', keepInWords(keep)],
    ['Where', `${PLACES[place]}, ${isEncrypted ? 'encrypted' : 'not encrypted'}`],
    ['A restore can be undone for', undoableMs > 0 ? spanInWords(undoableMs / 1_000) : 'no time at all'],
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
