import { badUserInput } from '@taskmesh/contracts';
import { detached } from '@taskmesh/service';

/**
 * The known parameters of a request target, each at most once; others are ignored. Reads it raw, because ordinary parsers turn
 * invalid UTF-8 into replacement characters. Node has refused targets with bytes above 127.
 * @throws AppError BAD_USER_INPUT for a repeated parameter or invalid UTF-8
 */
export function readParameters(target: string, known: ReadonlySet<string>): Record<string, string> {
  const parameters: Record<string, string> = {};
  const start = target.indexOf('?');
  if (start === -1 || start === target.length - 1) return parameters;
  for (const pair of target.slice(start + 1).split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (!known.has(name)) continue;
    if (Object.hasOwn(parameters, name)) throw badUserInput([{ path: name, message: `${name} must be given once.` }]);
    parameters[name] = detached(value); // a document stays cached, and would keep the whole target
  }
  return parameters;
}

function decode(part: string): string {
  const spaced = part.includes('+') ? part.replaceAll('+', ' ') : part;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw notText();
  }
}

const notText = () => badUserInput([{ path: '', message: 'The query is not valid percent-encoded UTF-8.' }]);
