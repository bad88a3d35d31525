const PLACE = /^(file:\/\/)?\/.*:\d+$/;

/** Why sources cannot be run: the message and the first place in them. All else in the stack is Node's loader. */
export function whyNotLoaded(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  const lines = (error.stack ?? error.message).split('\n');
  const frames = lines.filter((line) => /^ +at /.test(line));
  const words = lines.filter((line) => !frames.includes(line));
  if (PLACE.test(words[0] ?? '')) return words.join('\n');
  const place = frames.find((frame) => frame.includes('file://'));
  return [...words, ...(place ? [place] : [])].join('\n');
}
