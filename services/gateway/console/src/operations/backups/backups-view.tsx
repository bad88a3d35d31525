import { useEffect, useRef, useState } from 'preact/hooks';
import { Confirm } from '../../elements/confirm.tsx';
import { TextField } from '../../elements/form.tsx';
import { useNotify } from '../../elements/notices.tsx';
import { saveAs } from '../../elements/save-as.ts';
import { Ago, Moment, Sentence } from '../../elements/times.tsx';
import {
  Button,
  RowActions,
  Failure,
  focusHeading,
  Read,
  Section,
  View,
  type RowActionsProps,
} from '../../elements/view.tsx';
import { useAction } from '../../requests/use-action.ts';
import { useReading } from '../../requests/use-reading.ts';
import { useApi } from '../api/operators-api.ts';
import type { Backup, PlatformStatus, WorkEnd } from '../api/types.ts';
import { usePolling } from '../use-polling.ts';
import { useOngoingWork, WorkCard } from '../work/work.tsx';
import { formatSize } from '../format.ts';
import { Rules, UndoCard, UndoUnknown } from './status-cards.tsx';

const EVERY_MS = 10_000;
const LEAD = 'An archive holds all accounts and tasks as they were at one moment. Making one interrupts nothing.';

/** An action that needs confirmation. */
type Confirmation = { kind: 'restore' | 'delete'; backup: Backup };

export function BackupsView() {
  const api = useApi();
  const notify = useNotify();
  const work = useOngoingWork();
  const [question, setQuestion] = useState<Confirmation>();
  const reading = usePolling(() => api.get<{ data: Backup[] }>('/backups').then(({ data }) => data), EVERY_MS);
  const { again } = reading;
  const status = useReading(() =>
    api.get<{ data: PlatformStatus }>('/operations/status').then(({ data }) => data.backups),
  );
  const readStatus = status.again;
  useEffect(() => {
    if (work.ended) void readStatus(); // a restore changes what can be undone
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
    notify({ text: `${file} is deleted.` });
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
        <Failure error={remove.error ?? download.error} />
        <Read reading={reading}>
          {(backups) => (
            <>
              {backups.length === 0 && <p class="soft">There are none yet.</p>}
              <ul class="rows" aria-label="Archives">
                {backups.map((backup) => (
                  <BackupRow
                    key={backup.file}
                    backup={backup}
                    actions={[
                      { text: 'Verify', disabled: isBusy, onClick: () => void verify(backup) },
                      {
                        icon: 'download',
                        text: 'Download',
                        disabled: download.isBusy,
                        onClick: () => void download.run(backup),
                      },
                      { text: 'Restore…', disabled: isBusy, onClick: () => setQuestion({ kind: 'restore', backup }) },
                      {
                        text: 'Delete…',
                        class: 'danger',
                        disabled: isBusy,
                        onClick: () => setQuestion({ kind: 'delete', backup }),
                      },
                    ]}
                  />
                ))}
              </ul>
            </>
          )}
        </Read>
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
        <Confirm
          title="Delete this archive?"
          action="Delete it"
          onConfirm={() => void remove.run(question.backup)}
          onCancel={close}
        >
          <p>
            <strong class="file">{question.backup.file}</strong> cannot be brought back.
            {question.backup.verifiedAt !== null && ' It has been verified: a restore from it works.'}
          </p>
        </Confirm>
      )}
    </View>
  );
}

/** Names the new archive in the message. */
function namingArchive(end: WorkEnd): WorkEnd {
  return end.data && 'file' in end.data ? { ...end, message: `The archive is ${end.data.file}.` } : end;
}

function AddBackup({ isBusy, onDone }: { isBusy: boolean; onDone: () => Promise<void> }) {
  const api = useApi();
  const { run } = useOngoingWork();
  const chosen = useRef<HTMLInputElement>(null);
  const make = async () => {
    await run('Making a backup', (onProgress) => api.work('/backups', onProgress).then(namingArchive));
    await onDone();
  };
  const bring = async (file: File) => {
    await run(`Uploading ${file.name}`, (onProgress) =>
      api.upload(`/backups/${encodeURIComponent(file.name)}`, file, onProgress),
    );
    await onDone();
  };
  return (
    <div class="actions first">
      <Button icon="plus" text="Make a backup" class="primary" disabled={isBusy} onClick={() => void make()} />
      <Button icon="upload" text="Upload an archive" disabled={isBusy} onClick={() => chosen.current?.click()} />
      <input
        ref={chosen}
        type="file"
        hidden
        accept=".gz,.age,application/gzip"
        aria-label="An archive to upload"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          currentTarget.value = ''; // so that the same file can be chosen again
          if (file) void bring(file);
        }}
      />
    </div>
  );
}

const ORIGINS: Record<Backup['origin'], string> = {
  request: 'made on request',
  schedule: 'made by schedule',
  safety: 'made before a restore',
  upload: 'uploaded',
  unknown: 'added by hand',
};

function BackupRow({ backup, actions }: { backup: Backup } & Pick<RowActionsProps, 'actions'>) {
  const { file, createdAt, sizeBytes, origin, verifiedAt, unfitAt, unfitReason } = backup;
  return (
    <li class="row">
      <div class="what">
        <p class="title">
          <span class="file">{file}</span>
          <Proof backup={backup} />
        </p>
        <p class="soft">
          <Ago at={createdAt} />, {formatSize(sizeBytes)}, {ORIGINS[origin]}
          {verifiedAt !== null && unfitAt === null && (
            <>
              , verified <Ago at={verifiedAt} />
            </>
          )}
          {unfitReason !== null && <Sentence text={`. It cannot be restored: ${unfitReason}`} />}
        </p>
      </div>
      <RowActions of={file} actions={actions} />
    </li>
  );
}

function Proof({ backup: { verifiedAt, unfitAt } }: { backup: Backup }) {
  if (unfitAt !== null) return <span class="label bad">Cannot be restored</span>;
  if (verifiedAt === null) return <span class="label plain">Not verified</span>;
  return <span class="label good">Verified</span>;
}

interface RestoreDialogProps {
  backup: Backup;
  onRestore: (withSafetyBackup: boolean) => void;
  onCancel: () => void;
}

/** Requires the user to type the archive's name, so that no restore happens by accident. */
function RestoreDialog({ backup: { file, createdAt, verifiedAt }, onRestore, onCancel }: RestoreDialogProps) {
  const [typed, setTyped] = useState('');
  const [isTried, setIsTried] = useState(false);
  const [withSafetyBackup, setWithSafetyBackup] = useState(false);
  const isSame = typed.trim() === file;
  return (
    <Confirm
      title="Restore this archive?"
      action="Restore"
      mayConfirm={() => {
        setIsTried(true);
        return isSame;
      }}
      onConfirm={() => onRestore(withSafetyBackup)}
      onCancel={onCancel}
    >
      <p>
        Accounts and tasks go back to how they were on <Moment at={createdAt} />. What was written since is removed.
        Pages that people have open show the restored tasks without being reloaded.
      </p>
      {verifiedAt === null && (
        <p class="note">It is not verified: only the restore itself will show whether it works.</p>
      )}
      <p>
        Type its name: <strong class="file">{file}</strong>
      </p>
      <TextField
        label="Name of the archive"
        autocomplete="off"
        value={typed}
        error={isTried && !isSame ? 'That is not its name.' : undefined}
        onInput={setTyped}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={withSafetyBackup}
          onChange={({ currentTarget }) => setWithSafetyBackup(currentTarget.checked)}
        />
        <span>Make a backup of the current data first</span>
      </label>
    </Confirm>
  );
}
