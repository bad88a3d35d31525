import { explainError } from '../api/operators-error.ts';
import { Sentence } from '../../elements/sentence.tsx';
import { Moment } from '../../elements/times.tsx';
import type { WorkEnd } from '../api/types.ts';
import { amountInWords, phaseInWords, shareOf } from './phase-words.ts';
import { useOngoingWork, type Ended, type Work } from './use-work.ts';

/** The running operation with its progress, or how the last one ended. */
export function WorkCard() {
  const { running, ended, putAway } = useOngoingWork();
  return (
    <div role="status" class="work-place">
      {running && <Running running={running} />}
      {ended && <EndOf ended={ended} onPutAway={putAway} />}
    </div>
  );
}

function Running({ running: { title, progress } }: { running: NonNullable<Work['running']> }) {
  const amount = progress && amountInWords(progress);
  return (
    <section class="card work" aria-label={title}>
      <h2>{title}</h2>
      <progress aria-label={title} value={progress && shareOf(progress)} />
      <p class="soft">
        {progress ? phaseInWords(progress) : 'Starting'}
        {/* Bytes change too often for screen readers. */}
        {amount && <span aria-hidden="true">: {amount}</span>}
      </p>
    </section>
  );
}

function EndOf({ ended: { title, end, error }, onPutAway }: { ended: Ended; onPutAway: () => void }) {
  const isGood = error === undefined && end?.databaseRestored !== false;
  return (
    <section class={isGood ? 'card work done' : 'card work failed'} aria-label={title}>
      <h2>
        {title}: {isGood ? 'done' : 'failed'}
      </h2>
      <p>
        <Sentence text={error === undefined ? messageOf(end) : explainError(error)} />
      </p>
      {end && <Details end={end} />}
      <button type="button" onClick={onPutAway}>
        Dismiss
      </button>
    </section>
  );
}

/** The contract requires this in every answer to a restore, but no restart is needed. */
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
          You can undo it until <Moment at={keptUntil} />.
        </p>
      )}
    </>
  );
}
