/** A JSON object of the description. */
export type Json = Readonly<Record<string, unknown>>

/** The sections of `components` that are filled while operations are described. */
type Section = 'schemas' | 'responses' | 'requestBodies' | 'headers' | 'parameters' | 'examples'

/** Collects what several places of a description share. */
export interface Components {
  /** A schema in which every sub-schema that has a `title` is a reference to the component of that name. */
  schema(schema: object): Json
  /** A reference to a component, which is made when it is first asked for. */
  shared(section: Section, name: string, make: () => Json): Json
  /** All that was collected, by section. */
  collected(): Readonly<Record<string, Json>>
}

/**
 * An empty collection. A schema's `title` is its name, so it must be spelled as one. Throws a `TypeError` where two different
 * schemas have one title: a reference would lie about one of them.
 */
export function createComponents(): Components {
  const sections = new Map<Section, Map<string, Json>>()
  const section = (name: Section): Map<string, Json> => {
    const found = sections.get(name) ?? new Map<string, Json>()
    sections.set(name, found)
    return found
  }

  // Operations share schema objects: each is copied once.
  const made = new WeakMap<object, Json>()
  const schema = (value: object): Json => {
    const held = made.get(value) ?? describe(value)
    made.set(value, held)
    return held
  }

  const describe = (value: object): Json => {
    const { title, ...rest } = value as { readonly title?: unknown }
    const inner = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, replaceTitled(each)]))
    // A property may be called "title" too: its value is a schema.
    if (typeof title !== 'string')
      return title === undefined ? inner : { ...inner, title: replaceTitled(title) }
    if (!/^[A-Z][A-Za-z0-9]*$/.test(title))
      throw new TypeError(`schema title "${title}" must be a name such as "ApiKey"`)
    const held = section('schemas').get(title)
    if (held && JSON.stringify(held) !== JSON.stringify(inner)) {
      throw new TypeError(`two different schemas have the title ${title}`)
    }
    section('schemas').set(title, inner)
    return { $ref: `#/components/schemas/${title}` }
  }

  const replaceTitled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaceTitled)
    return typeof value === 'object' && value !== null ? schema(value) : value
  }

  return {
    schema,
    shared(name, key, make) {
      const held = section(name)
      if (!held.has(key)) held.set(key, make())
      return { $ref: `#/components/${name}/${key}` }
    },
    collected: () =>
      Object.fromEntries([...sections].map(([name, members]) => [name, Object.fromEntries(members)])),
  }
}
