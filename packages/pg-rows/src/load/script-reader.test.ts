import { Readable } from 'node:stream';
import { createScriptReader } from './script-reader.ts';

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size = 7): Promise<(string | string[])[]> {
  const reader = createScriptReader(inPieces(text, size));
  const parts: (string | string[])[] = [];
  for (let part = await reader.next(); part; part = await reader.next()) {
    parts.push('meta' in part ? part.meta : part.text);
    if ('text' in part && /^copy /i.test(part.text)) {
      const chunks: Buffer[] = [];
      for await (const chunk of reader.copyData()) chunks.push(chunk);
      parts.push([Buffer.concat(chunks).toString()]);
    }
  }
  return parts;
}

const EACH_SIZE = [1, 2, 3, 5, 300, 100_000];

describe('the script reader', () => {
  it.each([
    "select ';', 'it''s; fine';",
    "select E'a\\';b', e'\\\\';",
    'select "a;b", "a"";b";',
    'select $$a;b$$, $tag$ $$ ; $other$ $tag$;',
    'select a$b$c, 1$b$;',
    'select À$b$;',
    'select 1 -- no; end\n;',
    'select /* a; /* b; */ c; */ 1;',
    'create rule r as on delete to t do (select 1; select 2);',
    'create function f() returns int begin atomic; select case when true then 1 end; end;',
    'create or replace function begin() returns int language sql begin atomic select 1; end;',
    "insert into t values ('\\');",
    "select typee'x;y';",
    "select E'it\\'s;'\n'more; \\'';",
    "select e'a\\';' -- a; comment's end\r\n -- and another\n\t'b\\';'\r'c;';",
    "select E'a\\';' 'b\\', E'a'/* ; */\n'b\\';",
    "select U&'a;'\n'b\\', N'a\\', $$;$$;",
  ])('reads %j as one statement, however its bytes are cut', async (statement) => {
    for (const size of EACH_SIZE) expect(await read(`${statement}\nselect 2;`, size)).toEqual([statement, 'select 2;']);
  });

  it.each([
    ['select 1;select 2;', ['select 1;', 'select 2;']],
    ['-- only; a comment\n\n  ', []],
    ['select 1; select 2 -- end', ['select 1;', 'select 2 -- end']],
    ['select 1;\nselect\n2\n', ['select 1;', 'select\n2\n']],
    ['-- old; line ends\rselect 1;\rselect 2;', ['select 1;', 'select 2;']],
    ['select 1 -- a;\r; select 2;', ['select 1 -- a;\r;', 'select 2;']],
    ['begin; select 1; end;', ['begin;', 'select 1;', 'end;']],
    ['\\restrict abc\nselect 1;\n\\unrestrict abc\n', ['\\restrict abc', 'select 1;', '\\unrestrict abc']],
    ['select 1; \\! touch x\nselect 2;', ['select 1;', '\\! touch x', 'select 2;']],
    [`-- ${'long '.repeat(300)}\n--\n\n\\unrestrict abc\n`, ['\\unrestrict abc']],
    ['\ufeff-- a\n\\restrict abc\nselect 1;', ['\\restrict abc', 'select 1;']],
    ['copy t from stdin;\n\\.\n\ncopy u from stdin;\n\\.', ['copy t from stdin;', [''], 'copy u from stdin;', ['']]],
    ['copy t from stdin;\r\na\r\n\\.\r\nselect 1;', ['copy t from stdin;', ['a\r\n'], 'select 1;']],
    ['copy t from stdin;\n\\.x\n\\\\.\n.\n\\\n\\restrict x\n;"$$\n\\.\n', ['copy t from stdin;', ['\\.x\n\\\\.\n.\n\\\n\\restrict x\n;"$$\n']]], // prettier-ignore
  ] as [string, (string | string[])[]][])('splits %j, however its bytes are cut', async (script, parts) => {
    for (const size of EACH_SIZE) expect(await read(script, size)).toEqual(parts);
  });

  it.each([
    ['\n\nselect (1', 'ends within the statement of line 3'],
    ['select 1 /* a', 'ends within the statement of line 1'],
    ["select E'a\\\\'\n'b\\';", 'ends within the statement of line 1'],
    ['select $a$ ; $b$;', 'ends within'],
    ['copy t from stdin;\n1\n2', 'ends within the data of line 1'],
    ['copy t from stdin; select 1;\n\\.\n', 'continues after COPY'],
    ['select \0;', 'zero bytes'],
  ])('rejects %j', async (script, message) => {
    for (const size of EACH_SIZE) await expect(read(script, size)).rejects.toThrow(message);
  });

  it('rejects invalid UTF-8', async () => {
    const latin1 = Readable.from([Buffer.from("select '\xe9';", 'latin1')]) as AsyncIterable<Buffer>;
    await expect(createScriptReader(latin1).next()).rejects.toThrow('not UTF-8');
  });

  /** Reads a script that never ends. Returns how much of it was taken, and of it as data. */
  async function readEndless(begin: string) {
    const taken = { bytes: 0, data: 0 };
    const reader = createScriptReader(
      (async function* () {
        yield Buffer.from(begin);
        for (;;) yield Buffer.alloc((taken.bytes += 65_536) && 65_536, 'x');
      })(),
    );
    const all = async () => {
      while (await reader.next())
        if (begin.startsWith('copy')) for await (const { length } of reader.copyData()) taken.data += length;
    };
    await expect(all()).rejects.toThrow(/too long/);
    return taken;
  }

  it.each(['', 'copy t from stdin;', '\\restrict ', 'select 1; --'])(
    'rejects an endless line that begins with %j before it fills the memory',
    async (begin) => expect((await readEndless(begin)).bytes).toBeLessThan(3 * 1024 * 1024),
  );

  it('streams long lines of data, and rejects an endless one', async () => {
    const { data } = await readEndless('copy t from stdin;\n');
    expect([data > 60 * 1024 * 1024, data < 65 * 1024 * 1024]).toEqual([true, true]);
  });
});
