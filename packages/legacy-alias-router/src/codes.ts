import { denier, type DenialOf, type HeaderField } from '@gatewright/kernel'
import { answerHeaders } from './notices.ts'
import type { AliasUse } from './table.ts'

/** Denials of this package, with their HTTP status. */
export const codes = { invalid_request: 400, gone: 410 } as const

/** What reading old names can refuse with, and the old names that the request used up to there. */
export type AliasDenial = DenialOf<typeof codes> & {
  readonly used: readonly AliasUse[]
  /** Fields of the answer: what `answerHeaders` says of the old names used. */
  readonly headers: readonly HeaderField[]
}

const plain: ReturnType<typeof denier<typeof codes>> = denier(codes)

/** Makes a denial of this package, with the notices of the old names used. */
export function deny(
  code: keyof typeof codes,
  message: string,
  used: readonly AliasUse[],
  field?: string,
): AliasDenial {
  return { ...plain(code, message, field === undefined ? {} : { field }), used, headers: answerHeaders(used) }
}
