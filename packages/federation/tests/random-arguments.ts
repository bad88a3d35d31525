import {
  GraphQLInt,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLInputType,
} from 'graphql';
import type { Dice } from './seeded-random.ts';
import type { ArgumentsOf } from './random-operations.ts';

/** Values that fit, for all arguments that have to be there and some of the others. */
export const fittingArguments: ArgumentsOf = ({ args }, dice) => {
  const given = args.filter((argument) => isRequiredArgument(argument) || dice.oneIn(3));
  const texts = given.map(({ name, type }) => `${name}: ${valueOf(type, dice)}`);
  return texts.length > 0 ? `(${texts.join(', ')})` : '';
};

function valueOf(type: GraphQLInputType, dice: Dice): string {
  if (isNonNullType(type)) return presentValue(type.ofType, dice);
  if (type === GraphQLInt && dice.oneIn(3)) return '$n';
  return dice.oneIn(6) ? 'null' : presentValue(type, dice);
}

function presentValue(type: GraphQLInputType, dice: Dice): string {
  if (isNonNullType(type)) return presentValue(type.ofType, dice);
  if (isListType(type)) {
    const items = dice.some([0, 1, 2]).map(() => valueOf(type.ofType, dice));
    return `[${items.join(', ')}]`;
  }
  if (isEnumType(type)) return dice.pick(type.getValues()).name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter((field) => isRequiredInputField(field) || dice.oneIn(2));
    return `{ ${fields.map((field) => `${field.name}: ${valueOf(field.type, dice)}`).join(', ')} }`;
  }
  switch (type.name) {
    case 'Int':
      return dice.pick(['1', '2']);
    case 'Float':
      return dice.pick(['0.5', '3']);
    case 'Boolean':
      return dice.pick(['true', '$t']);
    default:
      return dice.pick(['"a"', '"ünï \\"b\\""']);
  }
}
