import type { Denial, HeaderField } from '@gatewright/kernel'
import { denier, type DenialOf } from '@gatewright/kernel/internal'

/** Every code of this package's own responses, with its HTTP status. */
export const codes = {
  invalid_request: 400,
  /** Plain HTTP where `requireHttps` is set. */
  https_required: 403,
  payload_too_large: 413,
  unsupported_media_type: 415,
  /** An unexpected error; the text is fixed. */
  internal_error: 500,
  /** A `Fault`; the text is fixed. */
  service_unavailable: 503,
} as const

/** The denials of reading a request. */
export type RequestDenial = DenialOf<
  Pick<typeof codes, 'invalid_request' | 'payload_too_large' | 'unsupported_media_type'>
>

/** A denial with the header fields of its response. */
export type DenialWithHeaders = Denial & { readonly headers?: readonly HeaderField[] }

/** Makes a denial of this package. */
export const deny: ReturnType<typeof denier<typeof codes>> = denier(codes)
