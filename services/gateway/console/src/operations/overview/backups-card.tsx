import { Ago, Moment } from '../../elements/times.tsx';
import { Section } from '../../elements/view.tsx';
import type { BackupsStatus } from '../api/types.ts';
import { countOf, sizeInWords } from '../words.ts';
import { Facts } from './facts.tsx';

export function BackupsCard({ backups }: { backups: BackupsStatus | null }) {
  const archives = backups?.archives;
  return (
    <Section title="Backups">
      <Facts
        facts={[
          ['Newest', archives ? <When at={archives.newest?.createdAt} /> : 'not known'],
          ['Newest that is verified', archives ? <When at={archives.newestProved?.createdAt} /> : 'not known'],
          [
            'Kept',
            archives ? (
              <a href="#/operations/backups">
                {countOf(archives.count, 'archive', 'archives')}
                {archives.count > 0 && `, ${sizeInWords(archives.totalBytes)}`}
              </a>
            ) : (
              'not known'
            ),
          ],
          ['Next by schedule', backups ? <Next backups={backups} /> : 'not known'],
        ]}
      />
    </Section>
  );
}

const When = ({ at }: { at: string | undefined }) => (at === undefined ? <>none</> : <Ago at={at} />);

function Next({ backups: { schedule } }: { backups: BackupsStatus }) {
  if (!schedule) return <>on request only</>;
  return schedule.nextAt ? <Moment at={schedule.nextAt} /> : <>never</>;
}
