import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox/type'
import { parseInstant } from '@gatewright/kernel/internal'
import { counted } from './counted.ts'
import { INSTANT_FORMAT } from './instant.ts'
import { isName, NAME_FORMAT, URL_FORMAT } from './names.ts'

// `strict` rejects keywords outside JSON Schema. The schemas themselves are not validated, which would double the time to
// compile them: they are constants of this package.
const ajv = new Ajv({
  allErrors: false,
  strict: true,
  formats: {
    [NAME_FORMAT]: isName,
    [URL_FORMAT]: URL.canParse,
    [INSTANT_FORMAT]: text => parseInstant(text) !== undefined,
  },
  // What a query parameter must be, in the words of a denial: see `querySchema`. And a schema for the API description only.
  keywords: ['expected', 'x-described'],
  // An error then has its schema, whose description says what a text must be.
  verbose: true,
  meta: false,
  validateSchema: false,
})

/** The first error in a value. */
interface SchemaProblem {
  /** Path to the member; empty for the value itself. */
  readonly path: readonly string[]
  /** A sentence that starts with the member's name, or with `body`. */
  readonly message: string
  /** Whether the member is required and missing. */
  readonly isMissing: boolean
}

/**
 * Compiles a schema to a function that returns the first error of a value, or undefined. It does not change
 * the value. The schema is compiled when the first value is checked: all of them together take half of the CPU
 * time of a start.
 */
export function compileSchema(schema: TSchema): (value: unknown) => SchemaProblem | undefined {
  let compiled: ValidateFunction | undefined
  return value => {
    const validate = (compiled ??= ajv.compile(schema))
    if (validate(value)) return undefined
    const [error] = validate.errors as [ErrorObject]
    return explain(error)
  }
}

/** What a text of each format must be. */
const FORMATS: Readonly<Record<string, string>> = {
  [NAME_FORMAT]: 'must be well-formed Unicode in normal form C (NFC) without control characters',
  [URL_FORMAT]: 'must be a valid URL',
  [INSTANT_FORMAT]: 'must be an instant (RFC 3339) with Z or an offset, such as 2026-01-31T12:00:00Z',
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
}

/** What a text of common patterns must be. */
const PATTERNS: Readonly<Record<string, string>> = {
  '^0x[0-9a-fA-F]{40}$': '0x and 40 hex digits',
  '^0x[0-9a-fA-F]{64}$': '0x and 64 hex digits',
  '^[A-Z]{3}$': 'three capital letters',
  '^[A-Z]{2}$': 'two capital letters',
  '^[A-Za-z]{2}$': 'two letters',
  '^\\d{4}$': 'four digits',
  '^\\d{4}-\\d{2}-\\d{2}$': 'a date such as 2026-01-31',
}

/** Says what a text of a pattern must be; of other patterns, what the description of the member says. */
function patternWords(pattern: string, description: unknown): string {
  const most = /^\^\[!-~\]\{1,(\d+)\}\$$/.exec(pattern)?.[1]
  const known = most === undefined ? PATTERNS[pattern] : `1 to ${most} visible ASCII characters`
  if (known !== undefined) return `must be ${known}`
  return typeof description === 'string' ? `has a wrong form. Expected: ${description}` : 'has a wrong form'
}

function explain(error: ErrorObject): SchemaProblem {
  const path = error.instancePath.split('/').slice(1)
  const isMissing = error.keyword === 'required'
  if (isMissing) path.push(String(error.params['missingProperty']))
  return { path, message: `${path.join('.') || 'body'} ${expectation(error)}`, isMissing }
}

function expectation({ keyword, params, message, parentSchema }: ErrorObject): string {
  const limit = String(params['limit'])
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'format':
      return FORMATS[String(params['format'])] ?? 'is not valid'
    case 'type':
      return `must be ${typeWords(String(params['type']), parentSchema)}`
    case 'pattern':
      return patternWords(String(params['pattern']), parentSchema?.['description'])
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'minLength':
      return `must have at least ${counted(Number(limit), 'characters')}`
    case 'maxLength':
      return `must have at most ${counted(Number(limit), 'characters')}`
    case 'minItems':
      return `must have at least ${counted(Number(limit), 'items')}`
    case 'maxItems':
      return `must have at most ${counted(Number(limit), 'items')}`
    case 'uniqueItems':
      return 'must not have an item twice'
    case 'additionalProperties':
      return `must not have the member ${String(params['additionalProperty'])}`
    default:
      return message ?? 'is not valid'
  }
}

/** Says of which type a value must be; of an object, which members it must have. */
function typeWords(type: string, schema: ErrorObject['parentSchema']): string {
  const required: unknown = schema?.['required']
  const words = TYPES[type] ?? type
  if (type !== 'object' || !Array.isArray(required) || required.length === 0) return words
  return `${words} with ${required.join(', ')}`
}
