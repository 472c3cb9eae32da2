import { denier, type DenialOf } from '@gatewright/kernel/internal'
import type { HeaderField } from '@gatewright/kernel'
import { responseHeaders } from './response-headers.ts'
import type { MatchedAlias } from './table.ts'

/** The denial codes of this package and their HTTP statuses. */
export const codes = { invalid_request: 400, gone: 410 } as const

/** A denial of this package, with the old names that were found in the request before it. */
export type AliasDenial = DenialOf<typeof codes> & {
  readonly used: readonly MatchedAlias[]
  /** Header fields of the response: `responseHeaders(used)`. */
  readonly headers: readonly HeaderField[]
}

const denyPlain: ReturnType<typeof denier<typeof codes>> = denier(codes)

/** Makes a denial of this package. */
export function deny(
  code: keyof typeof codes,
  message: string,
  used: readonly MatchedAlias[],
  field?: string,
): AliasDenial {
  return {
    ...denyPlain(code, message, field === undefined ? {} : { field }),
    used,
    headers: responseHeaders(used),
  }
}
