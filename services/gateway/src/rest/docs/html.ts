/** Markup that is ready to be shown. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);

type Part = string | number | Markup | readonly Markup[];

/** A template of markup: whatever is put in is text, unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(strings.map((string, index) => string + shown(parts[index])).join(''));
}

function shown(part: Part | undefined): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('\n');
  return escaped(String(part));
}

export const NOTHING = new Markup('');

/** Paragraphs with `code` between backticks, which is all that our descriptions use. */
export function prose(text: string): Markup {
  const paragraphs = text.split('\n\n').map((paragraph) => `<p>${inline(paragraph)}</p>`);
  return new Markup(paragraphs.join('\n'));
}

/** One line of such text. */
export const line = (text: string) => new Markup(inline(text));

const inline = (text: string) => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
