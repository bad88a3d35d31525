import { useRef } from 'preact/hooks';
import { Icon } from '../../elements/icon.tsx';
import { useApi } from '../api/api-context.ts';
import type { WorkEnd } from '../api/types.ts';
import { useOngoingWork } from '../work/use-work.ts';

/** With the archive's name, which is not known before. */
function namingArchive(end: WorkEnd): WorkEnd {
  return end.data && 'file' in end.data ? { ...end, message: `The archive is ${end.data.file}.` } : end;
}

export function AddBackup({ isBusy, onDone }: { isBusy: boolean; onDone: () => Promise<void> }) {
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
    <div class="deeds first">
      <button type="button" class="primary" disabled={isBusy} onClick={() => void make()}>
        <Icon name="plus" />
        Make a backup
      </button>
      <button type="button" disabled={isBusy} onClick={() => chosen.current?.click()}>
        <Icon name="upload" />
        Upload an archive
      </button>
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
