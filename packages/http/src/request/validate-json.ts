import { isStorableText } from '@gatewright/kernel/internal'

/** The most levels of nested objects and arrays, including the outermost. */
const MAX_LEVELS = 32

interface JsonProblem {
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
    if (level > MAX_LEVELS) {
      const message = `the body must have at most ${MAX_LEVELS} levels of nested objects and arrays`
      return { field: safeName(next.field), message }
    }
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

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns a member's name for a response, or `body` if it is long or has characters beside letters, digits, `_`, `.` and `-`. */
const safeName = (name: string): string => (/^[\w.-]{1,32}$/.test(name) ? name : 'body')

function unstorable(field: string): JsonProblem {
  return {
    field: safeName(field),
    message: 'strings and member names must be well-formed Unicode without U+0000',
  }
}
