import { denier, type DenialOf } from '@gatewright/kernel'

/** Denials of this package, with their HTTP status. */
export const codes = {
  invalid_request: 400,
  /** Plain HTTP where `requireHttps` is set. */
  https_required: 403,
  payload_too_large: 413,
  unsupported_media_type: 415,
} as const

/** What reading a request can refuse with. */
export type RequestDenial = DenialOf<typeof codes>

/** Makes a denial of this package. */
export const deny: ReturnType<typeof denier<typeof codes>> = denier(codes)
