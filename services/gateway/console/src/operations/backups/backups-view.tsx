import { useEffect, useState } from 'preact/hooks';
import { Loading } from '../../elements/loading.tsx';
import { useTell } from '../../elements/notices.tsx';
import { saveAs } from '../../elements/save-as.ts';
import { focusHeading, Section, View } from '../../elements/view.tsx';
import { useAction } from '../../requests/use-action.ts';
import { useReading } from '../../requests/use-reading.ts';
import { useApi } from '../api/api-context.ts';
import type { Backup, PlatformStatus } from '../api/types.ts';
import { Problem } from '../problem.tsx';
import { usePolling } from '../use-polling.ts';
import { useOngoingWork } from '../work/use-work.ts';
import { WorkCard } from '../work/work-card.tsx';
import { AddBackup } from './add-backup.tsx';
import { BackupRow } from './backup-row.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { RestoreDialog } from './restore-dialog.tsx';
import { Rules } from './rules.tsx';
import { UndoCard, UndoUnknown } from './undo-card.tsx';

const EVERY_MS = 10_000;
const LEAD = 'An archive holds all accounts and tasks as they were at one moment. Making one interrupts nothing.';

/** What needs a confirmation. */
type Question = { kind: 'restore' | 'delete'; backup: Backup };

export function BackupsView() {
  const api = useApi();
  const tell = useTell();
  const work = useOngoingWork();
  const [question, setQuestion] = useState<Question>();
  const { data, error, again } = usePolling(
    () => api.get<{ data: Backup[] }>('/backups').then(({ data }) => data),
    EVERY_MS,
  );
  const status = useReading(() =>
    api.get<{ data: PlatformStatus }>('/operations/status').then(({ data }) => data.backups),
  );
  const readStatus = status.again;
  useEffect(() => {
    if (work.ended) void readStatus(); // it may have been a restore
  }, [work.ended, readStatus]);
  const undoable = status.data?.undoable;
  const isBusy = work.running !== undefined;
  const close = () => setQuestion(undefined);

  const verify = async ({ file }: Backup) => {
    await work.run(`Verifying ${file}`, (onProgress) =>
      api.work(`/backups/${encodeURIComponent(file)}/verify`, onProgress),
    );
    await again();
  };
  const restore = async ({ file }: Backup, withSafetyBackup: boolean) => {
    close();
    const query = `file=${encodeURIComponent(file)}${withSafetyBackup ? '&safetyBackup=true' : ''}`;
    await work.run(`Restoring ${file}`, (onProgress) => api.work(`/backup/restore?${query}`, onProgress));
    await again();
  };
  const remove = useAction(async ({ file }: Backup) => {
    close();
    await api.send('DELETE', `/backups/${encodeURIComponent(file)}`);
    tell({ text: `${file} is deleted.` });
    await again();
    focusHeading();
  });
  const download = useAction(async ({ file }: Backup) => {
    saveAs(file, await api.download(`/backups/${encodeURIComponent(file)}`));
  });

  return (
    <View title="Backups" lead={LEAD}>
      <WorkCard />
      <AddBackup isBusy={isBusy} onDone={again} />
      {undoable && <UndoCard undoable={undoable} isBusy={isBusy} />}
      {status.data && undoable === undefined && <UndoUnknown onAgain={() => void readStatus()} />}
      <Section title="Archives">
        {!data && error === undefined && <Loading />}
        <Problem error={error} onAgain={() => void again()} />
        <Problem error={remove.error ?? download.error} />
        {data?.length === 0 && <p class="soft">There are none yet.</p>}
        <ul class="rows" aria-label="Archives">
          {data?.map((backup) => (
            <BackupRow
              key={backup.file}
              backup={backup}
              isBusy={isBusy}
              isDownloading={download.isBusy}
              onVerify={() => void verify(backup)}
              onDownload={() => void download.run(backup)}
              onRestore={() => setQuestion({ kind: 'restore', backup })}
              onDelete={() => setQuestion({ kind: 'delete', backup })}
            />
          ))}
        </ul>
      </Section>
      <Rules status={status} />
      {question?.kind === 'restore' && (
        <RestoreDialog
          backup={question.backup}
          onRestore={(withSafetyBackup) => void restore(question.backup, withSafetyBackup)}
          onCancel={close}
        />
      )}
      {question?.kind === 'delete' && (
        <DeleteDialog backup={question.backup} onDelete={() => void remove.run(question.backup)} onCancel={close} />
      )}
    </View>
  );
}
