import { Icon } from '../../elements/icon.tsx';
import { Sentence } from '../../elements/sentence.tsx';
import { Time } from '../../elements/times.tsx';
import type { PlatformStatus } from '../api/types.ts';

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export function Problems({ status: { problems, at }, isStale }: { status: PlatformStatus; isStale: boolean }) {
  const isWell = problems.length === 0;
  return (
    <section class={isWell ? 'health well' : 'health ill'} aria-label="Health">
      <div role="status">
        {isWell ? (
          <p class="headline">
            <Icon name="check" /> All is well
          </p>
        ) : (
          <>
            <p class="headline">
              <Icon name="warning" /> Not all is well
            </p>
            <ul>
              {problems.map((problem) => (
                <li key={problem}>
                  <Sentence text={problem} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <p class="soft">
        {isStale ? 'Cannot be reached now; this was the state at ' : 'Checked every few seconds, last at '}
        <Time at={at}>{CLOCK.format(new Date(at))}</Time>
      </p>
    </section>
  );
}
