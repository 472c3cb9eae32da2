import { denier, type DenialOf } from '@gatewright/kernel'
import type { AliasUse } from './table.ts'

/** Denials of this package, with their HTTP status. */
export const codes = { invalid_request: 400, gone: 410 } as const

/** What reading old names can refuse with, and the old names that the request used up to there. */
export type AliasDenial = DenialOf<typeof codes> & { readonly used: readonly AliasUse[] }

/** Makes a denial of this package. */
export const deny: ReturnType<typeof denier<typeof codes>> = denier(codes)
