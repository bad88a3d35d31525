import type { Data } from '../projection/own-value.ts';
import type { Representation } from './representations.ts';

/** Objects that a service is asked about, and of each the place of its representation. */
export interface Gathered {
  targets: Data[];
  places: number[];
}

/** So many objects of one value are compared one by one. */
const LONGEST = 8;

/**
 * The representations for one request, each different one once. Texts are only written of objects that have not been met, as far
 * as that can be seen by their values.
 */
export class Gathering {
  /** The representations, with commas between them. */
  text = '';
  count = 0;
  readonly #representationOf: (typeName: unknown) => Representation;
  /** The last place of a value: the one before it that has the same is in `#previous`. */
  readonly #byValue = new Map<unknown, number>();
  readonly #previous: (number | undefined)[] = [];
  /** Those of a value that has many, such as the owner in a key of two fields. */
  readonly #byText = new Map<string, number>();
  readonly #first: Data[] = [];

  constructor(representationOf: (typeName: unknown) => Representation) {
    this.#representationOf = representationOf;
  }

  add(objects: readonly Data[]): Gathered {
    const targets: Data[] = [];
    const places: number[] = [];
    for (const object of objects) {
      const place = this.#placeOf(object);
      if (place === undefined) continue;
      targets.push(object);
      places.push(place);
    }
    return { targets, places };
  }

  #placeOf(object: Data): number | undefined {
    const { __typename } = object;
    const { read, write } = this.#representationOf(__typename);
    const first = read?.[0];
    const value = first ? comparable(first(object)) : write(object);
    const last = this.#byValue.get(value);
    let met = 0;
    for (let place = last; place !== undefined; place = this.#previous[place], met++) {
      const known = this.#first[place];
      if (known && known.__typename === __typename && (!read || hasSame(known, object, read))) return place;
    }
    const text = read ? write(object) : String(value);
    if (text === '') return undefined;
    const isFull = met >= LONGEST;
    const whole = isFull ? `${String(__typename)} ${text}` : '';
    const known = isFull ? this.#byText.get(whole) : undefined;
    if (known !== undefined) return known;
    if (isFull) this.#byText.set(whole, this.count);
    else this.#byValue.set(value, this.count);
    this.#previous.push(isFull ? undefined : last);
    this.#first.push(object);
    this.text += this.count === 0 ? text : `,${text}`;
    return this.count++;
  }
}

function hasSame(one: Data, other: Data, read: readonly ((object: Data) => unknown)[]): boolean {
  return read.every((each) => isSame(each(one), each(other)));
}

/** A text is none of the objects that are written like it. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === typeof other && comparable(one) === comparable(other));
}

/** Custom scalars may be objects. */
function comparable(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
