import { denialAnswer, type Answer, type ErrorShape, type HeaderField } from '@gatewright/http'
import type { Verdict } from '@gatewright/kernel'
import type { Aliases } from '@gatewright/legacy-alias-router'
import type { Document, Operation, Success } from './operation.ts'

/** The shape of errors on an operation: partners get the envelope around them (contract section 2). */
export function errorShape(surface: Operation['surface']): ErrorShape {
  return surface === 'partner' ? 'partner' : 'plain'
}

/** Puts an operation's outcome on the wire: envelope, fields at top level where clients read them, legacy twins. */
export function render(
  operation: Operation,
  verdict: Verdict<Success | Document>,
  headers: readonly HeaderField[],
  aliases: Aliases,
): Answer {
  if (!verdict.ok) {
    const answer = denialAnswer(verdict, errorShape(operation.surface))
    return { ...answer, headers: [...headers.filter(([name]) => !isSet(answer, name)), ...answer.headers] }
  }
  const { value } = verdict
  if ('document' in value) {
    return { status: value.status ?? 200, headers: [...headers, ...value.headers], body: value.document }
  }
  const data = aliases.withTwins(value.data)
  const body = {
    ok: true,
    data,
    summary: value.summary,
    errors: [],
    ...(value.next === undefined ? {} : { next: value.next }),
    ...(operation.topLevel ? data : {}),
  }
  return { status: 200, headers, body }
}

const isSet = (answer: Answer, name: string): boolean =>
  answer.headers.some(([held]) => held.toLowerCase() === name.toLowerCase())
