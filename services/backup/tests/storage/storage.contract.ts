import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ArchiveExistsError, type BackupStorage } from '../../src/storage/backup-storage.ts';

const MIB = 1024 * 1024;
const hashOf = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');

/** Tests that every storage of archives must pass. `storageOf` returns an empty one. */
export function describeBackupStorage(name: string, storageOf: () => BackupStorage): void {
  const storage = storageOf;
  const write = (file: string, ...parts: Buffer[]) =>
    storage().write(file, Readable.from(parts, { objectMode: false }));
  const files = async () => (await storage().list()).map(({ file }) => file).toSorted();
  const read = async (file: string): Promise<Buffer> => {
    const archive = await storage().open(file);
    if (archive.kind !== 'found') throw new Error(archive.kind);
    const content = await buffer(archive.read());
    expect(content.length).toBe(archive.sizeBytes);
    await archive.close();
    return content;
  };

  describe(`a place of archives: ${name}`, () => {
    it('is empty at first', async () => {
      expect(await files()).toEqual([]);
      expect(await storage().find('a.tar.gz')).toBeUndefined();
      expect(await storage().sweep()).toBe(0);
    });

    // The largest is larger than one part of a multipart upload.
    it.each([0, 100_000, 17 * MIB])('stores an archive of %i bytes', async (size) => {
      const content = randomBytes(size);
      const file = `size-${size}.tar.gz`;
      const parts = [content.subarray(0, size / 3), content.subarray(size / 3)];
      expect(await write(file, ...parts)).toEqual({ sizeBytes: size, sha256: hashOf(content) });
      expect(await storage().find(file)).toMatchObject({ file, sizeBytes: size, modifiedAt: expect.any(Date) });
      expect((await storage().find(file))?.modifiedAt.getTime()).toBeCloseTo(Date.now(), -5);
      expect((await read(file)).equals(content)).toBe(true);
      expect(await storage().list()).toContainEqual(await storage().find(file));
      expect(await storage().remove(file)).toBe(true);
      expect(await files()).toEqual([]);
    });

    it('never replaces an archive', async () => {
      await write('kept.tar.gz', Buffer.from('first'));
      const second = write('kept.tar.gz', Buffer.from('second!'));
      await expect(second).rejects.toBeInstanceOf(ArchiveExistsError);
      await expect(second).rejects.toMatchObject({ refused: { sizeBytes: 7, sha256: hashOf('second!') } });
      expect((await read('kept.tar.gz')).toString()).toBe('first');
      await storage().remove('kept.tar.gz');
    });

    it.each([0, 10, 20 * MIB])('does not list an archive whose content breaks off after %i bytes', async (size) => {
      const content = Readable.from(broken(size), { objectMode: false });
      await expect(storage().write('broken.tar.gz', content)).rejects.toThrow('the content broke off');
      expect(content.destroyed).toBe(true);
      expect(await files()).toEqual([]);
    });

    it('does not list an archive that is still being written', async () => {
      const more = Promise.withResolvers<void>();
      const reached = Promise.withResolvers<void>();
      async function* parts() {
        yield Buffer.alloc(20 * MIB, 1);
        reached.resolve();
        await more.promise;
        yield Buffer.from('end');
      }
      const writing = storage().write('slow.tar.gz', Readable.from(parts(), { objectMode: false }));
      await reached.promise;
      expect(await files()).toEqual([]);
      expect((await storage().open('slow.tar.gz')).kind).toBe('missing');
      expect(await storage().sweep()).toBe(0);
      more.resolve();
      expect(await writing).toMatchObject({ sizeBytes: 20 * MIB + 3 });
      expect(await files()).toEqual(['slow.tar.gz']);
      await storage().remove('slow.tar.gz');
    });

    it('allows repeated, concurrent and abandoned reads', async () => {
      const content = randomBytes(3 * MIB);
      await write('often.tar.gz', content);
      const archive = await storage().open('often.tar.gz');
      if (archive.kind !== 'found') throw new Error(archive.kind);
      const [one, two] = await Promise.all([buffer(archive.read()), buffer(archive.read())]);
      expect(one.equals(content) && two.equals(content)).toBe(true);
      for await (const part of archive.read()) if (part) break;
      expect((await buffer(archive.read())).equals(content)).toBe(true);
      await archive.close();
      await storage().remove('often.tar.gz');
    });

    it.each([
      ['outside', ['../x.tar.gz', '..', '/etc/passwd', 'a/../../x.tar.gz', '..\\x.tar.gz', 'C:\\x.tar.gz']],
      ['missing', ['', '.', 'none.tar.gz', 'a\0.tar.gz', 'folder/', '%2e%2e%2fx.tar.gz', `${'x'.repeat(2_000)}.tar.gz`, '\ud800.tar.gz']],
    ])('finds nothing that is %s', async (kind, names) => {
      for (const file of names) {
        expect([file, await storage().open(file)]).toEqual([file, { kind }]);
        expect([file, await storage().find(file), await storage().remove(file)]).toEqual([file, undefined, false]);
      }
    }); // prettier-ignore

    it('accepts names with blanks, symbols and letters of any language', async () => {
      const names = ['a b.tar.gz', 'a+b&c=d?e#f%20.tar.gz', 'größe-日本.tar.gz', "it's (1).tar.gz.age"];
      for (const file of names) await write(file, Buffer.from(file));
      expect(await files()).toEqual(names.toSorted());
      for (const file of names) expect((await read(file)).toString()).toBe(file);
      for (const file of names) expect(await storage().remove(file)).toBe(true);
      expect(await files()).toEqual([]);
    });
  });
}

async function* broken(afterBytes: number) {
  yield Buffer.alloc(afterBytes, 1);
  throw new Error('the content broke off');
}
