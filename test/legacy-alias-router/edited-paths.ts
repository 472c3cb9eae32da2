import fc from 'fast-check'

/** Texts that routers read differently. */
const BYTES = [...'/%.;\\#?S', '//', '..', '%2f', '%2F', '%5c', '%2e', '%00', '%25', '%73', '%c3%a9', '%ff']
/** What is inserted into paths. */
const byte = fc.oneof(
  fc.constantFrom(...BYTES),
  fc.integer({ min: 0x21, max: 0xff }).map(code => String.fromCharCode(code)),
)

/** The arbitrary of paths with a few bytes replaced or inserted. */
export const editedPath = (paths: readonly string[], most: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...paths), fc.array(fc.tuple(fc.nat(40), fc.nat(2), byte), { maxLength: most }))
    .map(([path, edits]) =>
      edits.reduce<string>(
        (text, [at, removed, put]) => text.slice(0, at) + put + text.slice(at + removed),
        path,
      ),
    )
