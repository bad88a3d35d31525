import type { Data } from '../projection/safe-read.ts';
import type { Representation } from './representations.ts';

/** Objects to ask a service about, and the index of each one's representation. */
export interface BatchedObjects {
  targets: Data[];
  places: number[];
}

/** Up to this many objects with the same first value are compared one by one, any others by their text. */
const LONGEST = 8;

/**
 * Collects the representations for one request, without duplicates. Their texts are written only for objects that are
 * new, as far as comparing values can tell.
 */
export class RepresentationBatch {
  /** The representations, separated by commas. */
  text = '';
  count = 0;
  readonly #representationOf: (typeName: unknown) => Representation;
  /** The newest index for a first value. `#previous` leads to earlier ones with the same value. */
  readonly #byValue = new Map<unknown, number>();
  readonly #previous: (number | undefined)[] = [];
  /** For first values shared by many objects, such as the owner in a key of two fields. */
  readonly #byText = new Map<string, number>();
  readonly #first: Data[] = [];

  constructor(representationOf: (typeName: unknown) => Representation) {
    this.#representationOf = representationOf;
  }

  add(objects: readonly Data[]): BatchedObjects {
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

/** A string never equals an object, even one that is written the same. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === typeof other && comparable(one) === comparable(other));
}

/** Custom scalars may be objects. */
function comparable(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
