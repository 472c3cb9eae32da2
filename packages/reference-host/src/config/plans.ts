import * as Type from 'typebox/type'
import { idText, nameText } from '@gatewright/host/schemas'
import { jsonFile, type Parser } from '@gatewright/host/config'
import type { Plan } from '../product/plans.ts'

const strict = { additionalProperties: false }
const read = jsonFile<{ readonly plans: readonly Plan[] }>(
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
  '{"plans":[{"id":"basic","title":"Basic","amountCents":500,"interval":"month"}]}',
)

/**
 * Reads plans from a JSON file `{ "plans": [{ "id", "title", "amountCents", "interval": "month" | "year" }]
 * }`.
 */
export const plansFile: Parser<readonly Plan[]> = path => {
  const result = read(path)
  if ('expected' in result) return result
  const { plans } = result.value
  const ids = plans.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined ? { value: plans } : { expected: `lists the plan ${twice} twice` }
}
