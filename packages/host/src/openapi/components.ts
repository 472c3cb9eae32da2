/** A JSON object of the description. */
export type Json = Readonly<Record<string, unknown>>

/** The sections of `components` that are filled from operations. */
type Section = 'schemas' | 'responses' | 'requestBodies' | 'headers' | 'parameters' | 'examples'

/** Collects the components that several parts of a description share. */
export interface Components {
  /**
   * Returns the schema with every sub-schema that has a `title` replaced by a reference to the component of
   * that name.
   */
  schema(schema: object): Json
  /** Returns a reference to a component. The first reference creates it. */
  shared(section: Section, name: string, make: () => Json): Json
  /** All components by section. */
  collected(): Readonly<Record<string, Json>>
}

/**
 * Creates an empty collection. A schema's `title` becomes its component name. Throws a `TypeError` for a
 * title of another form, and for two different schemas with one title.
 */
export function createComponents(): Components {
  const sections = new Map<Section, Map<string, Json>>()
  const sectionOf = (name: Section): Map<string, Json> => {
    const found = sections.get(name) ?? new Map<string, Json>()
    sections.set(name, found)
    return found
  }

  // Operations share schema objects, and each is converted once.
  const conversions = new WeakMap<object, Json>()
  const schema = (value: object): Json => {
    const converted = conversions.get(value) ?? toComponent(value)
    conversions.set(value, converted)
    return converted
  }

  const toComponent = (value: object): Json => {
    const { title, 'x-described': described, ...members } = value as Json
    // A schema whose content another part checks says here what it may have.
    const rest = { ...members, ...(described as Json | undefined) }
    const inner = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, replaceTitled(each)]))
    // A property may also be called "title"; its value is then a schema.
    if (typeof title !== 'string')
      return title === undefined ? inner : { ...inner, title: replaceTitled(title) }
    if (!/^[A-Z][A-Za-z0-9]*$/.test(title))
      throw new TypeError(`schema title "${title}" must be a name such as "ApiKey"`)
    const existing = sectionOf('schemas').get(title)
    if (existing && JSON.stringify(existing) !== JSON.stringify(inner)) {
      throw new TypeError(`two different schemas have the title ${title}`)
    }
    sectionOf('schemas').set(title, inner)
    return { $ref: `#/components/schemas/${title}` }
  }

  const replaceTitled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaceTitled)
    return typeof value === 'object' && value !== null ? schema(value) : value
  }

  return {
    schema,
    shared(name, key, make) {
      const members = sectionOf(name)
      if (!members.has(key)) members.set(key, make())
      return { $ref: `#/components/${name}/${key}` }
    },
    collected: () =>
      Object.fromEntries([...sections].map(([name, members]) => [name, Object.fromEntries(members)])),
  }
}
