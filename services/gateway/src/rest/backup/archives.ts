import type { ArchiveDownload, BackupEntry, BackupWork } from '@taskmesh/internal-api';
import {
  type EndpointResponse,
  type Bytes,
  successResponse,
  type Endpoint,
  endpoint,
  listResponse,
} from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { backupList, backupScan, backupResponse, workLine } from '../schemas/backups.ts';
import { doneSchema } from '../schemas/parts.ts';
import { unknownFile } from './queries.ts';

const VERIFIED = 'The archive can be restored: a test restore of all its stores succeeded.';

const ARCHIVE: Bytes = {
  mediaTypes: ['application/gzip', 'application/octet-stream'],
  description: 'The archive, as stored.',
  etag: 'The SHA-256 of the archive.',
};

/** `work` does what GraphQL cannot carry (ADR 33). */
export const archiveEndpoints = (work: BackupWork): readonly Endpoint[] => [
  endpoint('operator', 'POST /backups', {
    name: 'createBackup',
    summary: 'Make a backup',
    description: 'An archive of all databases, each as of one point in time, while they stay in use.',
    status: 201,
    responseSchema: backupResponse,
    lineSchema: workLine,
    errors: ['CONFLICT'],
    handle: async ({ onProgress }) => successResponse('Backup made.', { data: await work.create(onProgress) }),
  }),
  endpoint('operator', 'GET /backups', {
    name: 'listBackups',
    summary: 'List the backups',
    description: 'Newest first.',
    needs: OPERATIONS.backups,
    responseSchema: backupList,
    handle: async ({ run }) => {
      const data = (await run(OPERATIONS.backups, {})).backups as BackupEntry[]; // `origin` is any string in the graph
      return listResponse('backup', data);
    },
  }),
  endpoint('operator', 'POST /backups/scan', {
    name: 'scanBackups',
    summary: 'Update the list of backups',
    description:
      'Reads the manifests of archives in the directory or bucket of which the list only has name, size and date, as after a loss of the database with the list.',
    responseSchema: backupScan,
    lineSchema: workLine,
    handle: async ({ onProgress }) => {
      const data = await work.scan(onProgress);
      return successResponse(`Archives: ${data.archives}; new to the list: ${data.added}.`, { data });
    },
  }),
  endpoint('operator', 'DELETE /backups/{file}', {
    name: 'deleteBackup',
    summary: 'Delete an archive',
    needs: OPERATIONS.deleteBackup,
    responseSchema: doneSchema,
    errors: ['NOT_FOUND'],
    handle: async ({ id, run }) => {
      const { deleteBackup } = await run(OPERATIONS.deleteBackup, { file: id });
      if (!deleteBackup) throw unknownFile();
      return successResponse('Backup deleted.');
    },
  }),
  endpoint('operator', 'PUT /backups/{file}', {
    name: 'uploadBackup',
    summary: 'Upload an archive',
    description:
      'It is listed once it is complete. Uploading the same archive under the same name again changes nothing. 409 if another archive has that name.',
    bodySchema: ARCHIVE,
    status: 201,
    responseSchema: backupResponse,
    errors: ['CONFLICT'],
    handle: async ({ id, body }) => successResponse('Archive stored.', { data: await work.upload(id, body) }),
  }),
  endpoint('operator', 'GET /backups/{file}', {
    name: 'downloadBackup',
    summary: 'Download an archive',
    needs: OPERATIONS.backup,
    responseSchema: ARCHIVE,
    errors: ['NOT_FOUND'],
    handle: async ({ id, isHead, run }) => {
      const archive = isHead ? (await run(OPERATIONS.backup, { file: id })).backup : await work.download(id);
      if (!archive) throw unknownFile();
      return asFile(id, archive);
    },
  }),
  endpoint('operator', 'POST /backups/{file}/verify', {
    name: 'verifyBackup',
    summary: 'Verify that an archive can be restored',
    description: 'Restores it into temporary databases, which are then dropped; the real ones are not touched.',
    responseSchema: backupResponse,
    lineSchema: workLine,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ id, onProgress }) => successResponse(VERIFIED, { data: await work.verify(id, onProgress) }),
  }),
];

function asFile(file: string, archive: Pick<BackupEntry, 'sizeBytes' | 'sha256'> | ArchiveDownload): EndpointResponse {
  const headers = {
    ...(archive.sha256 && { etag: `"${archive.sha256}"` }),
    'content-type': file.endsWith('.age') ? 'application/octet-stream' : 'application/gzip',
    'content-length': String(archive.sizeBytes),
    'content-disposition': `attachment; ${fileNameOf(file)}`,
    'x-content-type-options': 'nosniff',
  };
  return { headers, body: 'content' in archive ? archive.content : null };
}

/** RFC 6266: an ASCII name that every client understands, and the exact one for clients that support it. */
function fileNameOf(file: string): string {
  const plain = file.replaceAll(/[^\w.-]/g, '_');
  const whole = encodeURIComponent(file).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return plain === file ? `filename="${plain}"` : `filename="${plain}"; filename*=UTF-8''${whole}`;
}
