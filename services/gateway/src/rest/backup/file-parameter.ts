import { badUserInput, notFound } from '@taskmesh/contracts';

export const unknownFile = () => notFound('There is no such backup file.');

/**
 * The query's `file`, decoded once.
 * @throws AppError BAD_USER_INPUT when it is missing, empty or repeated; NOT_FOUND when its bytes are not valid UTF-8
 */
export function readFileParameter(url: string): string {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const values = query
    .split('&')
    .filter((pair) => pair === 'file' || pair.startsWith('file='))
    .map((pair) => pair.slice('file='.length));
  const [value = ''] = values;
  if (values.length > 1) throw badUserInput([], 'Exactly one file must be named.');
  if (value === '') throw badUserInput([], 'The query parameter file is missing.');
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    throw unknownFile();
  }
}
