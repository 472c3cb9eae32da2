import { isStorableText } from '@gatewright/kernel'

/** Most levels of objects and arrays within one another, the outermost counted. */
const MAX_LEVELS = 32

/** What is wrong with a JSON value, and where. */
export interface JsonFault {
  /** The member of the outermost object; `body` when the fault is outside members, or the member's name is long or at fault. */
  readonly field: string
  readonly message: string
}

/** An object or array whose members are still to be looked at. */
interface Open {
  readonly value: object
  readonly level: number
  readonly field: string
}

/**
 * What in a parsed JSON value some reader or store would fail at or change: more than 32 levels of objects and arrays, or a NUL
 * or a lone surrogate in a text or a member name. Undefined when there is nothing. It does not recurse, so that no depth
 * overflows the stack.
 */
export function jsonFault(root: unknown): JsonFault | undefined {
  if (typeof root === 'string') return isStorableText(root) ? undefined : unstorable('body')
  const open: Open[] = isObject(root) ? [{ value: root, level: 1, field: 'body' }] : []
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, level } = next
    if (level > MAX_LEVELS) {
      const message = `the body must have at most ${MAX_LEVELS} levels of objects and arrays within one another`
      return { field: shown(next.field), message }
    }
    const names = Array.isArray(value) ? undefined : Object.keys(value)
    // Arrays are read in place: a list of their indexes would cost more than the parser did.
    const members: readonly unknown[] = names === undefined ? (value as unknown[]) : Object.values(value)
    for (let index = 0; index < members.length; index++) {
      const name = names?.[index]
      if (name !== undefined && !isStorableText(name)) return unstorable(next.field)
      const member = members[index]
      const field = level === 1 && name !== undefined ? name : next.field
      if (typeof member === 'string' && !isStorableText(member)) return unstorable(field)
      if (isObject(member)) open.push({ value: member, level: level + 1, field })
    }
  }
  return undefined
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** An answer repeats the name of a member, unless it is long or holds anything but letters, digits, `_`, `.` and `-`. */
const shown = (name: string): string => (/^[\w.-]{1,64}$/.test(name) ? name : 'body')

function unstorable(field: string): JsonFault {
  return { field: shown(field), message: 'texts and member names must be well-formed Unicode without U+0000' }
}
