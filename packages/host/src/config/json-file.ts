import { readFileSync } from 'node:fs'
import type { TObject } from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import type { Parser } from './parsers.ts'

/** Reads a variable that is the path of a JSON file with an object of this schema. The error about a wrong file shows `example`. */
export function jsonFile<T>(schema: TObject, example: string): Parser<T> {
  const validate = compileSchema(schema)
  return path => {
    let parsed: unknown
    try {
      parsed = JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      return { expected: `must be the path of a JSON file such as ${example}: ${(error as Error).message}` }
    }
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      return { expected: `must hold a JSON object such as ${example}` }
    }
    const problem = validate(parsed)
    return problem ? { expected: `is not valid: ${problem.message}` } : { value: parsed as T }
  }
}
