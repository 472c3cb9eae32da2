import { isStorableText } from '@gatewright/kernel/internal'
import { MAX_LEVELS } from './json-depth.ts'

export interface JsonProblem {
  /** The member of the outermost object that has the problem; `body` if no member contains it, or its name cannot be repeated. */
  readonly field: string
  readonly message: string
}

/** An object or array whose members have not been checked yet. */
interface PendingValue {
  readonly value: object
  readonly level: number
  readonly field: string
}

/**
 * Returns the first part of a parsed JSON value that other parsers or stores would reject or change: more than 32 levels of
 * nesting, or a NUL or a lone surrogate in a string or a member name. Undefined: the value has no such problem. It does not recurse, so that
 * deep nesting cannot overflow the stack.
 */
export function validateJson(root: unknown): JsonProblem | undefined {
  if (typeof root === 'string') return isStorableText(root) ? undefined : unstorable('body')
  const open: PendingValue[] = isObject(root) ? [{ value: root, level: 1, field: 'body' }] : []
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, level } = next
    if (level > MAX_LEVELS) return tooDeep(next.field)
    const names = Array.isArray(value) ? undefined : Object.keys(value)
    // Arrays are read by index: a list of their keys would cost more than parsing them.
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

/**
 * The problem of a body in which a member of the outermost object is nested too deep. `at`: the offset, in bytes, of the first bracket that
 * is; undefined where the bytes are not known.
 */
export function tooDeep(member: string, at?: number): JsonProblem {
  const where = at === undefined ? '' : `; byte ${at + 1} begins another`
  return {
    field: safeName(member),
    message: `the body must have at most ${MAX_LEVELS} levels of nested objects and arrays${where}`,
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns a member's name for a response, or `body` if it is long or has characters beside letters, digits, `_`, `.` and `-`. */
const safeName = (name: string): string => (/^[\w.-]{1,32}$/.test(name) ? name : 'body')

function unstorable(field: string): JsonProblem {
  return {
    field: safeName(field),
    message: 'strings and member names must be well-formed Unicode without U+0000',
  }
}
