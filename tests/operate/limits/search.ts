import { JSON_TYPE, replacedValue, TASK_FIELDS, times, type Account, type Case } from './case.ts';
import type { MeasuredProduct } from './measured-product.ts';
import { channel } from './sockets.ts';
import { measureCase, type Measured, type Measuring } from './suite.ts';

/** Whole numbers from 0 to the maximum in the space. */
export type Genes = Readonly<Record<string, number>>;

/** A kind of request, described by its genes. */
export interface Space {
  name: string;
  by: 'stranger' | 'account';
  max: Genes;
  /** Returns the text to send, which differs for each `turn`. */
  text(genes: Genes, turn: number): string;
  send(product: MeasuredProduct, account: Account, text: string): Promise<string>;
}

export interface Found extends Measured {
  genes: Genes;
  bytes: number;
}

const post = async (product: MeasuredProduct, body: string) =>
  String((await product.send('/graphql', { method: 'POST', headers: JSON_TYPE, body })).status);

export const SPACES: readonly Space[] = [
  {
    name: 'documents',
    by: 'stranger',
    max: {
      ...{ roots: 30, levels: 3, leaves: 200, fragments: 139, fragmentLeaves: 60, spreads: 6, conditions: 60 },
      ...{ variables: 60, schemas: 20, schemaLevels: 9, literal: 100_000, inline: 30 },
    },
    text: (genes, turn) => JSON.stringify({ query: documentOf(genes, turn) }),
    send: (product, _account, text) => post(product, text),
  },
  {
    name: 'bodies',
    by: 'stranger',
    max: {
      ...{ keys: 9_000, keyLength: 200, lists: 9_000, levels: 31, text: 900_000, digits: 900_000, escapes: 150_000 },
      ...{ replacedLevels: 4_900, replacedKeyLength: 300, replacedIntegers: 9_000 },
    },
    text: bodyOf,
    send: (product, _account, text) => post(product, text),
  },
  {
    name: 'filters of channels',
    by: 'account',
    max: { bindings: 100, conditions: 20, values: 100, quotes: 100, wildcards: 100, blanks: 500 },
    text: (genes, turn) => JSON.stringify({ config: { postgres_changes: bindingsOf(genes, turn) } }),
    async send(product, { token }, text) {
      const { outcome, socket } = await channel(product.url, { ...(JSON.parse(text) as object), access_token: token });
      socket.terminate();
      return outcome;
    },
  },
];

function documentOf(genes: Genes, turn: number): string {
  const gene = (name: string) => genes[name] ?? 0;
  const leaf = (at: number) => {
    const variable = gene('variables') > 0 ? `$v${at % gene('variables')}` : 'true';
    return `${TASK_FIELDS[at % TASK_FIELDS.length]}${at < gene('conditions') ? ` @include(if: ${variable})` : ''}`;
  };
  const begin = 'owner { tasks(first: 1) { edges { node { '.repeat(gene('levels'));
  const end = '} } } }'.repeat(gene('levels'));
  const spread = gene('fragments') > 0 ? times(gene('spreads'), (at) => `...F${at % gene('fragments')}`) : '';
  const inline = times(gene('inline'), (at) => `... on Task { ${leaf(at)} }`);
  const set = `id ${begin} id ${times(gene('leaves'), leaf)} ${inline} ${spread} ${end}`;
  const literal = `${turn}${'x '.repeat(gene('literal') / 2)}`;
  const roots = times(gene('roots'), (at) => `a${turn}_${at}: task(id: "${at === 0 ? literal : at}") { ${set} }`);
  const levels = gene('schemaLevels');
  const type = `type ${'{ ofType '.repeat(levels)}{ name kind }${' }'.repeat(levels)}`;
  const schemas = times(gene('schemas'), (at) => `s${turn}_${at}: __schema { types { name fields { name ${type} } } }`);
  const fragments = times(gene('fragments'), (at) => {
    const spreads = at + 1 < gene('fragments') ? gene('spreads') : 0;
    const next = times(spreads, (of) => (at + of + 1 < gene('fragments') ? `...F${at + of + 1}` : 'id'));
    return `fragment F${at} on Task { id ${times(gene('fragmentLeaves'), leaf)} ${next} }`;
  });
  const variables = times(gene('variables'), (at) => `$v${at}: Boolean! = true`);
  return `query ${variables && `(${variables})`} { a${turn}: __typename ${roots} ${schemas} } ${fragments}`;
}

function bodyOf(genes: Genes, turn: number): string {
  const gene = (name: string) => genes[name] ?? 0;
  const keys = times(gene('keys'), (at) => `,"k${at}${'x'.repeat(gene('keyLength'))}":${at}`);
  const lists = `${'['.repeat(gene('levels'))}${Array(gene('lists')).fill('[]').join()}${']'.repeat(gene('levels'))}`;
  const text = 'x'.repeat(gene('text')) + '\\u00e9'.repeat(gene('escapes'));
  const [levels, keyLength] = [gene('replacedLevels'), gene('replacedKeyLength')];
  const replaced = replacedValue({ levels, keyLength, integers: gene('replacedIntegers') });
  return `{"query":"{ a${turn}: __typename }",${replaced},"variables":{"t":"${text}","n":1${'1'.repeat(gene('digits'))},"l":${lists || 0}${keys}}}`;
}

function bindingsOf(genes: Genes, turn: number) {
  const gene = (name: string) => genes[name] ?? 0;
  const values = times(gene('values'), () => (gene('quotes') > 0 ? `"${'\\"'.repeat(gene('quotes'))}",` : 'a,'));
  const condition = (at: number) =>
    at % 2 === 0
      ? `${' '.repeat(gene('blanks'))}category=in.(${values}b${at})`
      : `description=like.${'%a'.repeat(gene('wildcards') / 2)}${at}`;
  return Array.from({ length: gene('bindings') }, (_, of) => ({
    ...{ event: '*', schema: 'public', table: 'tasks' },
    filter: Array.from({ length: gene('conditions') }, (__, at) => `${condition(at)}${turn}${of}`).join(),
  }));
}

const FOUND: readonly { space: string; outcome: string; name: string; genes: Genes }[] = [
  {
    ...{ space: 'documents', outcome: '200', name: '139 fragments of one field' },
    genes: {
      ...{ roots: 1, levels: 1, leaves: 1, fragments: 139, fragmentLeaves: 1, spreads: 1, conditions: 1 },
      ...{ variables: 1, schemas: 1, schemaLevels: 1, literal: 1, inline: 1 },
    },
  },
];

/** The most expensive requests that searches have found. */
export const FOUND_CASES: readonly Case[] = FOUND.flatMap(({ space, outcome, name, genes }) =>
  SPACES.filter((each) => each.name === space).map(({ by, text, send }) => ({
    ...{ kind: 'found' as const, name, by, outcome },
    send: (product, account, turn) => send(product, account, text(genes, turn)),
  })),
);

/** Searches for expensive requests: mutates one or two genes of the most expensive one so far, in total or per byte. */
export async function searchWorst(measuring: Measuring, space: Space, random: () => number, seconds: number) {
  const { by, max, name } = space;
  const measure = async (genes: Genes): Promise<Found> => {
    let bytes = 0;
    const send: Case['send'] = (product, account, turn) => {
      const text = space.text(genes, turn);
      bytes = Buffer.byteLength(text);
      return space.send(product, account, text);
    };
    const measured = await measureCase(measuring, { kind: 'found', name, by, outcome: '', send });
    return { ...measured, genes, bytes };
  };
  const perByte = ({ cpuMs, bytes }: Found) => cpuMs / bytes;
  const giveUpAt = performance.now() + seconds * 1_000;
  let worst = await measure(Object.fromEntries(Object.keys(max).map((gene) => [gene, 1])));
  let worstPerByte = worst;
  let tried = 1;
  for (; performance.now() < giveUpAt; tried++) {
    const found = await measure(mutate(random() < 0.5 ? worst.genes : worstPerByte.genes, max, random));
    if (found.cpuMs > worst.cpuMs) worst = found;
    if (perByte(found) > perByte(worstPerByte)) worstPerByte = found;
  }
  return { tried, worst, worstPerByte };
}

function mutate(genes: Genes, max: Genes, random: () => number): Genes {
  const names = Object.keys(max);
  const pick = () => names[Math.floor(random() * names.length)] ?? '';
  const mutated = { ...genes };
  for (const name of random() < 0.3 ? [pick(), pick()] : [pick()]) {
    const [value = 0, limit = 0] = [genes[name], max[name]];
    const steps = [value * 2, Math.floor(value / 2), value + 1, value - 1, Math.floor(random() * (limit + 1)), limit];
    mutated[name] = Math.min(limit, Math.max(0, steps[Math.floor(random() * steps.length)] ?? value));
  }
  return mutated;
}
