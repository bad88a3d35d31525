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
          ['Newest', archives && ago(archives.newest)],
          ['Newest that is verified', archives && ago(archives.newestProved)],
          [
            'Kept',
            archives &&
              (archives.count === 0 ? null : (
                <a href="#/operations/backups">
                  {countOf(archives.count, 'archive', 'archives')}, {sizeInWords(archives.totalBytes)}
                </a>
              )),
          ],
          ['Next by schedule', backups ? next(backups) : undefined],
        ]}
      />
    </Section>
  );
}

const ago = (archive: { createdAt: string } | null) => archive && <Ago at={archive.createdAt} />;

const next = ({ schedule }: BackupsStatus) => (schedule?.nextAt ? <Moment at={schedule.nextAt} /> : null);
