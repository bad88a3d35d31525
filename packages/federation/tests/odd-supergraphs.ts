import { hash } from './seeded-random.ts';
import type { Source, Subgraph, WorldOptions } from './world.ts';

/** Graphs with what random ones lack. */
export interface OddSupergraph {
  subgraphs: Subgraph[];
  fixed?: WorldOptions['fixed'];
}

/** An object that a service made itself: of others it knows only what it is given. */
const made = (typeName: string, id: string): Source => ({ __typename: typeName, id, isMade: true });

const numberOf = (place: string, most = 100) => hash(place) % most;

/** What a service is given of an object; its own objects, and those of the one schema, have it anyway. */
function givenOf<Value>(source: Source, field: string, value: Value): Value {
  if (source.isMade !== true && !Object.hasOwn(source, field)) throw new Error(`A service is not given "${field}".`);
  return source.isMade === true ? value : (source[field] as Value); // the service that has it made it like that
}

/** Fields that require fields that require fields, some of them below an object or in a list. */
const requiredChains: OddSupergraph = {
  subgraphs: [
    {
      name: 'parcels',
      sdl: `
        type Query { parcels: [Parcel!] parcel(n: Int): Parcel grid: [[Parcel]] }
        type Mutation { send(n: Int): Parcel }
        type Parcel @key(fields: "id") { id: ID! weight: Int size: Size stamps: [Stamp!] }
        type Size @shareable { length: Int unit: Unit }
        type Stamp @shareable { value: Int }
        enum Unit { CM INCH }
      `,
    },
    {
      name: 'freight',
      sdl: `
        type Parcel @key(fields: "id") {
          id: ID!
          weight: Int @external
          size: Size @external
          stamps: [Stamp!] @external
          freight: Int @requires(fields: "weight size { length unit }")
          paid: Int! @requires(fields: "stamps { value }")
        }
        type Size @shareable { length: Int unit: Unit }
        type Stamp @shareable { value: Int }
        enum Unit { CM INCH }
      `,
    },
    {
      name: 'taxes',
      sdl: `
        type Parcel @key(fields: "id") {
          id: ID!
          freight: Int @external
          paid: Int! @external
          tax: Int @requires(fields: "freight")
          depot: Depot @requires(fields: "paid")
        }
        type Depot @key(fields: "id") { id: ID! }
      `,
    },
    {
      name: 'totals',
      sdl: `
        type Query { depots: [Depot] }
        type Parcel @key(fields: "id") {
          id: ID!
          tax: Int @external
          freight: Int @external
          weight: Int @external
          total: Int! @requires(fields: "tax freight weight")
        }
        type Depot @key(fields: "id") { id: ID! isOpen: Boolean last: Parcel }
      `,
    },
  ],
  fixed(type, field, source) {
    const id = String(source.id ?? '');
    const weight = numberOf(`weight ${id}`);
    const size = { length: numberOf(`length ${id}`), unit: numberOf(`unit ${id}`, 2) === 0 ? 'CM' : 'INCH' };
    const stamps = Array.from({ length: numberOf(`stamps ${id}`, 3) }, (_, index) => ({ value: index }));
    const freightOf = (heavy: number, { length, unit }: typeof size) => heavy * length + (unit === 'CM' ? 1 : 2);
    const paidOf = (all: typeof stamps) => all.reduce((sum, { value }) => sum + value, 0);
    const freight = freightOf(weight, size);
    const parcel = (n: number) => made('Parcel', String(1 + (n % 3)));
    switch (`${type}.${field}`) {
      case 'Query.parcels':
        return [parcel(0), parcel(1), parcel(0)];
      case 'Query.grid':
        return [[parcel(0), null], null, [], [parcel(2)]];
      case 'Query.parcel':
      case 'Mutation.send':
        return parcel(1);
      case 'Depot.last':
        return parcel(numberOf(id));
      case 'Query.depots':
        return [made('Depot', 'a'), null, made('Depot', 'b')];
      case 'Parcel.weight':
        return weight;
      case 'Parcel.size':
        return size;
      case 'Parcel.stamps':
        return stamps;
      case 'Size.length':
      case 'Size.unit':
      case 'Stamp.value':
        return source[field];
      case 'Parcel.freight':
        return freightOf(givenOf(source, 'weight', weight), givenOf(source, 'size', size));
      case 'Parcel.paid':
        return paidOf(givenOf(source, 'stamps', stamps));
      case 'Parcel.tax':
        return givenOf(source, 'freight', freight) * 2;
      case 'Parcel.depot':
        return made('Depot', givenOf(source, 'paid', paidOf(stamps)) === 0 ? 'a' : 'b');
      case 'Parcel.total':
        return (
          givenOf(source, 'tax', freight * 2) + givenOf(source, 'freight', freight) + givenOf(source, 'weight', weight)
        );
      default:
        return undefined;
    }
  },
};

/** Keys of objects in objects, and in lists. */
const nestedKeys: OddSupergraph = {
  subgraphs: [
    {
      name: 'halls',
      sdl: `
        type Query { seats: [[Seat]] hall: Hall! }
        type Hall @key(fields: "name") { name: String! seats: [Seat!] }
        type Seat @key(fields: "row { hall { name } number } side") { row: Row! side: String! price: Int }
        type Row @shareable { hall: Hall! number: Int! }
      `,
    },
    {
      name: 'guests',
      sdl: `
        type Query { guest: Guest }
        type Hall @key(fields: "name") { name: String! rating: Float }
        type Seat @key(fields: "row { hall { name } number } side") { row: Row! side: String! isTaken: Boolean guest: Guest }
        type Row @shareable { hall: Hall! number: Int! }
        type Guest @key(fields: "id") @key(fields: "seat { side row { number hall { name } } }") { id: ID! seat: Seat! }
      `,
    },
    {
      name: 'names',
      sdl: `
        type Guest @key(fields: "seat { side row { number hall { name } } }") { seat: Seat! nick: String! bill: Int }
        type Seat { side: String! @shareable row: Row! @shareable }
        type Row @shareable { number: Int! hall: Hall! }
        type Hall @key(fields: "name") { name: String! owner: String }
      `,
    },
  ],
  fixed(type, field, source) {
    const hall = (name: unknown): Source => ({ __typename: 'Hall', name, id: String(name) });
    const seat = (name: unknown, number: unknown, side: unknown): Source => {
      const row = { __typename: 'Row', hall: hall(name), number };
      return { __typename: 'Seat', row, side };
    };
    const placeOf = ({ row, side }: Source) => {
      const { number, hall: of } = row as { number: number; hall: { name: string } };
      return `${of.name} ${number} ${String(side)}`;
    };
    const guest = (of: Source) => ({ __typename: 'Guest', id: `guest of ${placeOf(of)}`, seat: of });
    switch (`${type}.${field}`) {
      case 'Query.seats':
        return [
          [seat('A', 1, 'left'), null, seat('A', 1, 'right')],
          [seat('B', 1, 'left'), seat('A', 1, 'left')],
          null,
        ];
      case 'Query.hall':
        return hall('A');
      case 'Hall.seats':
        return [seat(source.name, 1, 'left'), seat(source.name, 2, 'left')];
      case 'Query.guest':
        return guest(seat('B', 2, 'right'));
      case 'Seat.guest':
        return numberOf(placeOf(source), 2) === 0 ? null : guest(source);
      case 'Hall.rating':
      case 'Hall.owner':
        return field === 'owner' ? `owner of ${String(source.name)}` : numberOf(String(source.name)) / 4;
      case 'Seat.price':
        return numberOf(placeOf(source));
      case 'Seat.isTaken':
        return numberOf(placeOf(source), 2) === 1;
      case 'Guest.nick':
        return `of ${placeOf(source.seat as Source)}`;
      case 'Guest.bill':
        return numberOf(placeOf(source.seat as Source));
      case 'Guest.id':
        return source.id ?? `guest of ${placeOf(source.seat as Source)}`;
      default:
        return source[field];
    }
  },
};

/** Interfaces of interfaces, unions of which each service knows other members, and fields of one name and several types. */
const abstractTypes: OddSupergraph = {
  subgraphs: [
    {
      name: 'animals',
      sdl: `
        interface Node { id: ID! }
        interface Named implements Node { id: ID! name: String }
        type Cat implements Node & Named @key(fields: "id") { id: ID! name: String lives: Int! color: Color same: String }
        type Dog implements Node & Named @key(fields: "id") { id: ID! name: String breed: String color: Color same: Int }
        type Rock implements Node @key(fields: "id") { id: ID! same: [String] grams: Float }
        union Thing = Cat | Dog | Rock
        union Pet = Cat | Dog
        enum Color { RED BLUE SECRET @inaccessible }
        type Query { nodes: [Node!] named: Named things: [[Thing]] pets: [Pet!]! }
        type Mutation { adopt(id: ID!, at: At): Pet rename(word: String): Named }
        input At { hour: Int = 3 words: [String!] days: [Day!] again: At }
        enum Day { MON TUE }
      `,
    },
    {
      name: 'people',
      sdl: `
        interface Node { id: ID! }
        type Cat @key(fields: "id") { id: ID! owner: Person toys: [Thing] }
        type Dog @key(fields: "id") { id: ID! owner: Person! walks(at: At): [Walk!] }
        type Rock @key(fields: "id") { id: ID! }
        union Thing = Cat | Rock
        union Pet = Cat | Dog
        type Person implements Node @key(fields: "id") { id: ID! pets(at: At): [Pet] best: Pet home: Place same: Boolean }
        type Walk { with: Person far: Float same: Int! }
        union Place = House | Tent
        type House { rooms: Int same: String }
        type Tent { same: Int! poles: Int }
        input At { hour: Int = 3 words: [String!] days: [Day!] again: At }
        enum Day { MON TUE }
        type Query { places: [[Place!]] everything: [Node] }
        type Mutation { move(at: At): Place }
      `,
    },
    {
      name: 'ranks',
      sdl: `
        type Person @key(fields: "id") { id: ID! name: String! friends: [Person!] }
        type Dog @key(fields: "id") { id: ID! rank: Int }
        type Cat @key(fields: "id") { id: ID! rank: [Int!] }
      `,
    },
  ],
  fixed(type, field, source) {
    if (field === 'color') return ['RED', 'BLUE', 'SECRET'][numberOf(`color ${String(source.id)}`, 3)];
    const pets = [made('Cat', 'Cat1'), made('Dog', 'Dog1'), made('Cat', 'Cat1')];
    switch (`${type}.${field}`) {
      case 'Query.pets':
        return pets;
      case 'Query.nodes':
        return [made('Rock', 'Rock1'), ...pets];
      case 'Query.everything':
        return [made('Person', 'Person1'), null, made('Person', 'Person2')];
      case 'Cat.toys':
        return [made('Rock', 'Rock1'), null, made('Cat', 'Cat2')];
      default:
        return undefined;
    }
  },
};

/** Fields that are provided below objects and in fragments, moved to another service, hidden, or known to several. */
const sharedFields: OddSupergraph = {
  subgraphs: [
    {
      name: 'shelves',
      sdl: `
        type Query { shelves: [Shelf] top: Item spot: Spot @shareable }
        interface Item { id: ID! }
        type Shelf @key(fields: "id") {
          id: ID!
          best: Book @provides(fields: "title author { name }")
          all: [Item] @provides(fields: "... on Book { title }")
          first: Book
          where: Spot @shareable
        }
        type Book implements Item @key(fields: "id") { id: ID! title: String @external author: Author @external pages: Int old: String }
        type Disc implements Item @key(fields: "id") { id: ID! minutes: Int code2: Int @inaccessible }
        type Author @key(fields: "id") { id: ID! name: String @external }
        type Spot @shareable { x: Int y: Int }
      `,
    },
    {
      name: 'books',
      sdl: `
        type Query { books: [Book!] spot: Spot @shareable }
        type Mutation { write(n: Int): Book print(n: Int): Book! }
        type Book @key(fields: "id") {
          id: ID! title: String @shareable author: Author @shareable old: String @override(from: "shelves")
        }
        type Author @key(fields: "id") { id: ID! name: String @shareable born: Int books: [Book] }
        type Shelf @key(fields: "id") { id: ID! where: Spot @shareable width: Int }
        type Spot @shareable { x: Int y: Int z: Int }
      `,
    },
    {
      name: 'discs',
      sdl: `
        type Disc @key(fields: "id") { id: ID! code2: Int @external label: String @requires(fields: "code2") by: Author }
        type Author @key(fields: "id", resolvable: false) { id: ID! }
      `,
    },
  ],
  fixed(type, field, source) {
    const code = numberOf(`code ${String(source.id)}`);
    if (`${type}.${field}` === 'Disc.code2') return code;
    // Clients do not see what the service requires, so the one schema has to know.
    return `${type}.${field}` === 'Disc.label' ? `of ${String(source.code2 ?? code)}` : undefined;
  },
};

export const ODD_SUPERGRAPHS: Record<string, OddSupergraph> = {
  'required chains': requiredChains,
  'nested keys': nestedKeys,
  'abstract types': abstractTypes,
  'shared fields': sharedFields,
};
