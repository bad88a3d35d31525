import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function writeReport(file: string, report: object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

/** Replaces what stands in a document between the marks of each name. @throws when it has no place for one */
export function publish(document: string, texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) {
    const before = readFileSync(document, 'utf8');
    const [begin, end] = placeOf(before, name);
    if (begin < 0 || end < begin) throw new Error(`${document} has no place for ${name} (<!-- ${name}: begin --> …).`);
    writeFileSync(document, `${before.slice(0, begin)}\n\n${text}\n\n${before.slice(end)}`);
  }
}

/** Where in a document the text of this name begins and ends; -1 where a mark is missing. */
export function placeOf(document: string, name: string): [begin: number, end: number] {
  const mark = `<!-- ${name}: begin -->`;
  const at = document.indexOf(mark);
  return [at < 0 ? at : at + mark.length, document.indexOf(`<!-- ${name}: end -->`)];
}
