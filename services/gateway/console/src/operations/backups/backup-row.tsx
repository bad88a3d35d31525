import { Icon } from '../../elements/icon.tsx';
import { Sentence } from '../../elements/sentence.tsx';
import { Ago } from '../../elements/times.tsx';
import type { Backup } from '../api/types.ts';
import { sizeInWords } from '../words.ts';

export interface BackupRowProps {
  backup: Backup;
  /** Whether other work is running. */
  isBusy: boolean;
  isDownloading: boolean;
  onVerify: () => void;
  onDownload: () => void;
  onRestore: () => void;
  onDelete: () => void;
}

const ORIGINS: Record<Backup['origin'], string> = {
  request: 'made on request',
  schedule: 'made by schedule',
  safety: 'made before a restore',
  upload: 'uploaded',
  unknown: 'added by hand',
};

export function BackupRow({ backup, isBusy, isDownloading, ...on }: BackupRowProps) {
  const { file, createdAt, sizeBytes, origin, verifiedAt, unfitAt, unfitReason } = backup;
  return (
    <li class="row backup">
      <div class="what">
        <p class="title">
          <span class="file">{file}</span>
          <Proof backup={backup} />
        </p>
        <p class="soft">
          <Ago at={createdAt} />, {sizeInWords(sizeBytes)}, {ORIGINS[origin]}
          {verifiedAt !== null && unfitAt === null && (
            <>
              , verified <Ago at={verifiedAt} />
            </>
          )}
          {unfitReason !== null && <Sentence text={`. It cannot be restored: ${unfitReason}`} />}
        </p>
      </div>
      <div class="deeds">
        <button type="button" disabled={isBusy} aria-label={`Verify ${file}`} onClick={on.onVerify}>
          Verify
        </button>
        <button type="button" disabled={isDownloading} aria-label={`Download ${file}`} onClick={on.onDownload}>
          <Icon name="download" />
          Download
        </button>
        <button type="button" disabled={isBusy} aria-label={`Restore ${file}`} onClick={on.onRestore}>
          Restore…
        </button>
        <button type="button" class="danger" disabled={isBusy} aria-label={`Delete ${file}`} onClick={on.onDelete}>
          Delete…
        </button>
      </div>
    </li>
  );
}

function Proof({ backup: { verifiedAt, unfitAt } }: { backup: Backup }) {
  if (unfitAt !== null) return <span class="label bad">Cannot be restored</span>;
  if (verifiedAt === null) return <span class="label plain">Not verified</span>;
  return <span class="label good">Verified</span>;
}
