import { denier, type DenialOf } from '@gatewright/kernel'

/** Denials of this package, with their HTTP status. */
export const codes = { invalid_request: 400 } as const

/** What `resolve` can refuse with. */
export type AliasDenial = DenialOf<typeof codes>

/** Makes a denial of this package. */
export const deny: ReturnType<typeof denier<typeof codes>> = denier(codes)
