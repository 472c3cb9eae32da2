import * as Type from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import { nameText } from '../schemas/names.ts'

/** The expected no of a provider: a reply, not a fault. */
export interface Rejection {
  /** Why, for the account and the operator: 1 to 200 characters, without personal data. */
  readonly rejected: string
}

/** Whether a reply is a rejection. */
export function isRejection(reply: object): reply is Rejection {
  return 'rejected' in reply
}

/** Returns the first error in a rejection; undefined for a valid one. */
export const validateRejection: ReturnType<typeof compileSchema> = compileSchema(
  Type.Object({ rejected: nameText(1, 200) }),
)
