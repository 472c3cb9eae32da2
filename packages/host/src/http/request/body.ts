import { nearestName, shownName } from '@gatewright/kernel/internal'
import type { StandardSchema } from '@gatewright/http/internal'
import { compileSchema } from '../../schemas/check.ts'
import { unknownMembers } from '../../schemas/unknown-members.ts'
import type { Operation } from '../operations/operation.ts'
import { unknownMember } from './unknown-names.ts'

type Problem = ReturnType<ReturnType<typeof compileSchema>>

/**
 * Makes the schema by which the gate checks an operation's body. An operation without a body schema still requires a JSON
 * object. Unknown members are reported before missing ones, because a missing member is often a misspelt one. Where unknown members are
 * ignored, the message about a missing one names the unknown one that is near.
 */
export function bodySchema(operation: Pick<Operation, 'body' | 'unknownMembers'>): StandardSchema {
  const validateBody = operation.body && compileSchema(operation.body)
  return {
    '~standard': {
      version: 1,
      vendor: 'ajv',
      validate(value) {
        const problem =
          unknownMember(operation, value) ?? withNearest(operation, value, validateBody?.(value))
        return problem ? { issues: [problem] } : { value }
      },
    },
  }
}

/** Adds to the problem of a missing member the unknown member beside it that may be meant. */
function withNearest({ body }: Pick<Operation, 'body'>, value: unknown, problem: Problem): Problem {
  if (!problem?.isMissing) return problem
  const missing = problem.path.at(-1) as string
  const above = problem.path.slice(0, -1).join('.')
  for (const { path } of unknownMembers(body, value)) {
    const name = path.at(-1) as string
    if (path.slice(0, -1).join('.') !== above || nearestName([missing])(name) === undefined) continue
    const hint = `${shownName(name)} is not a known member; did you mean ${missing}?`
    return { ...problem, message: `${problem.message}: ${hint}` }
  }
  return problem
}
