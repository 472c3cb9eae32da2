import { shownName, storableText, unknownName } from '@gatewright/kernel/internal'
import { unknownMembers, type UnknownMember } from '../schemas/unknown-members.ts'
import { deny, type HostDenial } from './codes.ts'
import type { Operation } from './operation.ts'

/** How many names one response lists as ignored at most. */
const MAX_IGNORED = 20
/** The longest path of a name that a response repeats, in characters. */
const LONGEST_PATH = 64

/** Denies the first unknown query parameter, where the operation denies unknown ones. Denial: `invalid_request`. */
export function unknownParameter(
  operation: Pick<Operation, 'query' | 'unknownMembers'>,
  query: URLSearchParams,
): HostDenial | undefined {
  if (operation.unknownMembers !== 'deny') return undefined
  const [first] = unknownMembers(operation.query, Object.fromEntries(query))
  if (!first) return undefined
  const { field, name } = shown(first)
  return deny('invalid_request', `${field} ${unknownName('query parameter', name, first.known)}`, { field })
}

/** Describes the first unknown member of a body, where the operation denies unknown ones. */
export function unknownMember(
  operation: Pick<Operation, 'body' | 'unknownMembers'>,
  body: unknown,
): { readonly path: readonly string[]; readonly message: string } | undefined {
  if (operation.unknownMembers !== 'deny') return undefined
  const [first] = unknownMembers(operation.body, body)
  if (!first) return undefined
  const { field, name } = shown(first)
  return { path: [field], message: `${field} ${unknownName('member', name, first.known)}` }
}

/**
 * Lists the members of the body and the query parameters that an operation accepted and did not read: each name once, at most
 * 20 names with paths of at most 64 characters, never a value. Members inside an object have a path (`address.lines`); a member of objects
 * in a list is named once for the whole list (`items[].note`).
 */
export function ignoredNames(
  operation: Pick<Operation, 'body' | 'query'>,
  body: unknown,
  query: URLSearchParams,
): readonly string[] {
  const names = new Set<string>()
  for (const unknown of unknownMembers(operation.body, body)) {
    names.add(shown(unknown).field)
    if (names.size === MAX_IGNORED) return [...names]
  }
  for (const unknown of unknownMembers(operation.query, Object.fromEntries(query))) {
    names.add(shown(unknown).field)
    if (names.size === MAX_IGNORED) break
  }
  return [...names]
}

/** Returns the path and the name of an unknown member, as errors and responses show them. */
function shown({ path }: UnknownMember): { readonly field: string; readonly name: string } {
  const field = path.map(shownName).join('.').replaceAll('.[]', '[]')
  return { field: storableText(field, LONGEST_PATH), name: path.at(-1) as string }
}
