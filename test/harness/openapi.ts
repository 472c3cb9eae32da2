/** A description, or a part of one. */
type Json = Readonly<Record<string, unknown>>

/** What a reference like `#/components/schemas/Error` refers to. Throws where nothing is. */
export function resolved(description: object, reference: string): Json {
  const steps = reference.replace(/^#\//, '').split('/')
  const found = steps.reduce<unknown>((part, step) => (part as Json | undefined)?.[step], description)
  if (found === undefined) throw new Error(`the description has no ${reference}`)
  return found as Json
}

/** A part of a description, with what each of its references refers to in their places. */
export function inlined<T>(description: object, part: T): T {
  if (Array.isArray(part)) return part.map(each => inlined(description, each) as unknown) as T
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part as Json
  const own = Object.fromEntries(
    Object.entries(rest).map(([name, each]) => [name, inlined(description, each)]),
  )
  if ($ref === undefined) return own as T
  return { ...inlined(description, resolved(description, $ref as string)), ...own } as unknown as T
}
