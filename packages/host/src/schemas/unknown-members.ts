/** The parts of a JSON Schema that name members of objects. */
interface MemberSchema {
  readonly title?: string
  readonly properties?: Readonly<Record<string, MemberSchema>>
  readonly patternProperties?: unknown
  readonly additionalProperties?: unknown
  readonly items?: MemberSchema
  readonly anyOf?: readonly MemberSchema[]
}

/** A member that its schema does not name. */
export interface UnknownMember {
  /** The path from the outermost object. Each entry of a list is `[]`. */
  readonly path: readonly string[]
  /** The names that the schema allows there. */
  readonly known: readonly string[]
}

/**
 * Finds the members of a value that a schema does not name, in the order of the value, lazily. Skips open objects: those whose
 * schema names no members, such as `Type.Unknown`, and those with `additionalProperties: true`. Without a schema, the value has
 * no known member.
 */
export function* unknownMembers(
  schema: object = { properties: {} },
  value: unknown,
  path: readonly string[] = [],
): Generator<UnknownMember, void, undefined> {
  if (typeof value !== 'object' || value === null) return
  const alternatives = alternativesOf(schema)
  if (Array.isArray(value)) {
    const items = alternatives.flatMap(each => (each.items ? [each.items] : []))
    if (items.length === 0) return
    for (const item of value) yield* unknownMembers({ anyOf: items }, item, [...path, '[]'])
    return
  }
  const objects = alternatives.filter(each => each.properties)
  if (objects.length === 0 || objects.some(isOpen)) return
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    const named = objects.flatMap(({ properties = {} }) =>
      Object.hasOwn(properties, name) ? [properties[name] as MemberSchema] : [],
    )
    if (named.length > 0) yield* unknownMembers({ anyOf: named }, member, [...path, name])
    else yield { path: [...path, name], known: objects.flatMap(each => Object.keys(each.properties ?? {})) }
  }
}

/**
 * Returns a schema in which every object with named members is closed, unless it is declared open. An object inside it that changes by
 * that has `Input` behind its title: responses may have it as it was.
 */
export function closed(schema: object): object {
  const { title } = schema as MemberSchema
  return { ...closedInput(schema), ...(title === undefined ? {} : { title }) }
}

function closedInput(schema: object): object {
  const { properties, items, anyOf, title, ...rest } = schema as MemberSchema
  const closes = properties !== undefined && !isOpen(rest) && rest.additionalProperties !== false
  return {
    ...rest,
    ...(title === undefined ? {} : { title: closes ? `${title}Input` : title }),
    ...(properties ? { properties: mapped(properties, closedInput) } : {}),
    ...(items ? { items: closedInput(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(closedInput) } : {}),
    ...(closes ? { additionalProperties: false } : {}),
  }
}

const isOpen = ({ additionalProperties, patternProperties }: MemberSchema): boolean =>
  additionalProperties === true || patternProperties !== undefined

const alternativesOf = (schema: MemberSchema): readonly MemberSchema[] =>
  schema.anyOf ? schema.anyOf.flatMap(alternativesOf) : [schema]

const mapped = (members: Readonly<Record<string, object>>, change: (member: object) => object): object =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]))
