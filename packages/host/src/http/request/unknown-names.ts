import { shownName, storableText, unknownName } from '@gatewright/kernel/internal'
import { unknownMembers, type UnknownMember } from '../../schemas/unknown-members.ts'
import { deny, type HostDenial } from '../codes.ts'
import type { Operation } from '../operations/operation.ts'

/** How many names one response lists as ignored at most. */
const MAX_IGNORED = 20
/** The longest path of a name that a response repeats, in characters. */
const LONGEST_PATH = 64

/**
 * Query parameters that reads ignore on purpose, because public clients are known to send them: `_` is the time that jQuery adds to
 * every GET with `cache: false`. It chooses nothing.
 */
const SENT_BY_CLIENTS: readonly string[] = ['_']

/** Names of query parameters that mean the same in different APIs. */
const SAME_MEANING: readonly (readonly string[])[] = [
  ['cursor', 'after', 'page', 'offset', 'skip', 'starting_after', 'page_token', 'pageToken', 'nextCursor'],
  ['limit', 'per_page', 'perPage', 'page_size', 'pageSize', 'size', 'count', 'take'],
  ['from', 'since', 'start', 'startDate', 'start_date', 'created_after'],
  ['to', 'until', 'end', 'endDate', 'end_date', 'created_before'],
]

/**
 * Denies the first unknown query parameter of a read, and of an operation that denies unknown names: a filter that is ignored
 * answers something else than was asked. Public documents ignore them. Denial: `invalid_request`, with the nearest known name.
 */
export function unknownParameter(
  operation: Pick<Operation, 'query' | 'unknownMembers' | 'method' | 'surface'>,
  query: URLSearchParams,
): HostDenial | undefined {
  const isRead = operation.method === 'GET' && operation.surface !== 'public'
  if (!isRead && operation.unknownMembers !== 'deny') return undefined
  const unknown = unknownMembers(operation.query, Object.fromEntries(query))
  for (const each of unknown) {
    const { field, name } = shown(each)
    if (isRead && SENT_BY_CLIENTS.includes(name)) continue
    return deny('invalid_request', `${field} ${unknownQueryName(name, each.known)}`, { field })
  }
  return undefined
}

/** Says that a query parameter is not known, and which known one is meant, by spelling or by meaning. */
export function unknownQueryName(name: string, known: readonly string[]): string {
  const synonyms = SAME_MEANING.find(names => names.includes(name)) ?? []
  const meant = known.find(each => synonyms.includes(each)) ?? name
  return unknownName('query parameter', meant, known)
}

/** What a money write may say beside its own members: that its amount is in the only currency that is paid. */
const PAID_CURRENCY = 'USD'

/** Describes the first unknown member of a body, where the operation denies unknown ones. A write may have `currency` with the value `USD`. */
export function unknownMember(
  operation: Pick<Operation, 'body' | 'unknownMembers'> & { readonly write?: unknown },
  body: unknown,
): { readonly path: readonly string[]; readonly message: string } | undefined {
  if (operation.unknownMembers !== 'deny') return undefined
  for (const each of unknownMembers(operation.body, body)) {
    const { field, name } = shown(each)
    const isCurrency = operation.write !== undefined && each.path.length === 1 && name === 'currency'
    if (!isCurrency) return { path: [field], message: `${field} ${unknownName('member', name, each.known)}` }
    if ((body as { readonly currency: unknown }).currency !== PAID_CURRENCY)
      return { path: [field], message: 'currency must be USD, or left out: only USD is paid' }
  }
  return undefined
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
