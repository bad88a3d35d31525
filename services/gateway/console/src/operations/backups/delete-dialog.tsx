import { Confirm } from '../../elements/confirm.tsx';
import type { Backup } from '../api/types.ts';

export interface DeleteDialogProps {
  backup: Backup;
  onDelete: () => void;
  onCancel: () => void;
}

export function DeleteDialog({ backup: { file, verifiedAt }, onDelete, onCancel }: DeleteDialogProps) {
  return (
    <Confirm title="Delete this archive?" action="Delete it" onConfirm={onDelete} onCancel={onCancel}>
      <p>
        <strong class="file">{file}</strong> cannot be brought back.
        {verifiedAt !== null && ' It has been verified: a restore from it works.'}
      </p>
    </Confirm>
  );
}
