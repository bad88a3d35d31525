import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createArchiveCipher, type ArchiveCipher } from '../../src/archives/encryption.ts';

export async function cipherOf(key: string): Promise<ArchiveCipher> {
  const cipher = await createArchiveCipher({ identities: [key], recipients: [] });
  if (!cipher) throw new Error('no cipher');
  return cipher;
}

export const encrypted = async (content: Buffer, key: string): Promise<Buffer> =>
  buffer(await (await cipherOf(key)).encrypt(Readable.from([content])));
