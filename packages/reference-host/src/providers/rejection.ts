import * as Type from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import { nameText } from '../schemas/names.ts'

/** An expected refusal of a provider, which is a reply and not a fault. */
export interface Refused {
  /** Why, for the account and the operator: 1 to 200 characters, without personal data. */
  readonly refused: string
}

/** Whether a provider refused. */
export function isRefused(reply: object): reply is Refused {
  return 'refused' in reply
}

/** Says what is wrong with a refusal. */
export const refusedProblem: ReturnType<typeof compileSchema> = compileSchema(
  Type.Object({ refused: nameText(1, 200) }),
)
