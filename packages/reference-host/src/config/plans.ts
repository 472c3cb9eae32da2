import { readFileSync } from 'node:fs'
import * as Type from 'typebox/type'
import type { Plan } from '../product/plans.ts'
import { compileSchema } from '../schemas/check.ts'
import { idText, nameText } from '../schemas/names.ts'
import type { Parser } from './parsers.ts'

const strict = { additionalProperties: false }
const check = compileSchema(
  Type.Object(
    {
      plans: Type.Array(
        Type.Object(
          {
            id: idText(),
            title: nameText(1, 120),
            amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
            interval: Type.Enum(['month', 'year']),
          },
          strict,
        ),
      ),
    },
    strict,
  ),
)

/**
 * Reads plans from a JSON file `{ "plans": [{ "id", "title", "amountCents", "interval": "month" | "year" }]
 * }`.
 */
export const plansFile: Parser<readonly Plan[]> = path => {
  const example = '{"plans":[{"id":"basic","title":"Basic","amountCents":500,"interval":"month"}]}'
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return { expected: `must be the path of a JSON file such as ${example}: ${(error as Error).message}` }
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { expected: `must hold a JSON object such as ${example}` }
  }
  const fault = check(parsed)
  if (fault) return { expected: `is not valid: ${fault.message}` }
  const { plans } = parsed as { plans: Plan[] }
  const ids = plans.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined ? { value: plans } : { expected: `lists the plan ${twice} twice` }
}
