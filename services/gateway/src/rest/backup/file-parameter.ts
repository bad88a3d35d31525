export type FileParameter = { file: string } | { status: 400 | 404; refused: string };

/** The query's `file`, decoded once: missing, empty or repeated is a 400; bytes that are no text name no file. */
export function readFileParameter(url: string): FileParameter {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const values = query
    .split('&')
    .filter((pair) => pair === 'file' || pair.startsWith('file='))
    .map((pair) => pair.slice('file='.length));
  const [value = ''] = values;
  if (values.length > 1) return { status: 400, refused: 'Exactly one file must be named.' };
  if (value === '') return { status: 400, refused: 'The query parameter file is missing.' };
  try {
    return { file: decodeURIComponent(value.replaceAll('+', ' ')) };
  } catch {
    return { status: 404, refused: 'There is no such backup file.' };
  }
}
