/** A file that a guide creates, or lines that it changes in one. */
export type Step = { file: string; text: string } | Change;

export interface Change {
  file: string;
  before: string;
  after: string;
}

const BLOCK = /(?:^ *`([\w./-]+)`[^\n]*:\n\n)?^( *)```(\w+)\n([^]*?)^\2```$/gm;

/** Returns the steps of a guide: code blocks under the name of a new file, and diffs. */
export function stepsOf(guide: string): Step[] {
  return [...guide.matchAll(BLOCK)].flatMap(([, file, indent = '', language, block = '']): Step[] => {
    const text = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    if (language === 'diff') return changesOf(text);
    return file === undefined ? [] : [{ file, text }];
  });
}

function changesOf(difference: string): Change[] {
  return difference
    .split(/^--- /m)
    .slice(1)
    .flatMap((ofFile) => {
      const [file = '', ...hunks] = ofFile.split(/\n@@\n/);
      return hunks.map((hunk) => {
        const lines = hunk.replace(/\n$/, '').split('\n');
        const without = (sign: string) =>
          lines.flatMap((line) => (line.startsWith(sign) ? [] : `${line.slice(1)}\n`)).join('');
        return { file, before: without('+'), after: without('-') };
      });
    });
}

/** Applies a change. @throws Error if the lines to change are missing, or occur more than once */
export function changed(text: string, { file, before, after }: Change): string {
  const [lines, wanted] = [`\n${text}`, `\n${before}`];
  const at = lines.indexOf(wanted);
  if (at === -1) throw new Error(`${file} does not have these lines:\n${before}`);
  if (lines.includes(wanted, at + 1)) throw new Error(`${file} has these lines more than once:\n${before}`);
  return `${lines.slice(1, at + 1)}${after}${text.slice(at + before.length)}`;
}
