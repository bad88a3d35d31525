/** An entry of a tar archive that is written byte by byte: tests need archives that no honest program writes. */
export interface TarEntry {
  name: string;
  content?: string | Buffer;
  /** As in the header: '0' file, '1' hard link, '2' symbolic link, '3' character, '4' block, '5' directory, '6' pipe. */
  type?: string;
  link?: string;
  mode?: number;
  /** Replaces the content's length, for example with a false one. */
  size?: Buffer | number;
  badChecksum?: boolean;
}

const BLOCK = 512;

export function tar(entries: (TarEntry | Buffer)[], { end = true } = {}): Buffer {
  const parts = entries.map((entry) => (Buffer.isBuffer(entry) ? entry : entryBytes(entry)));
  return Buffer.concat([...parts, ...(end ? [Buffer.alloc(2 * BLOCK)] : [])]);
}

/** Returns an extended header for the entry that follows. */
export function pax(records: Record<string, string>, type = 'x'): Buffer {
  const content = Buffer.concat(Object.entries(records).map(([key, value]) => record(key, value)));
  return entryBytes({ name: 'PaxHeader', type, content });
}

/** Returns GNU's header for a long name. */
export function longName(name: string): Buffer {
  return entryBytes({ name: '././@LongLink', type: 'L', content: `${name}\0` });
}

function record(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function entryBytes(entry: TarEntry): Buffer {
  const { name, content = '', type = '0', link = '', mode = 0o644, size, badChecksum } = entry;
  const body = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  if (Buffer.isBuffer(size)) size.copy(header, 124);
  else header.write(octal(size ?? body.length, 11), 124);
  header.write(octal(0, 11), 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0) + (badChecksum ? 1 : 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
