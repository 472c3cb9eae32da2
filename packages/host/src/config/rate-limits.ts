import type { Parser } from './parsers.ts'

/** Limits per minute where `RATE_LIMITS` names no other number. */
export const DEFAULT_RATE_LIMITS = {
  guardedPerKeyPerMinute: 600,
  writesPerSessionPerMinute: 120,
  writesPerAccountPerMinute: 200,
  bootstrapPerAddressPerMinute: 30,
  failedCredentialsPerAddressPerMinute: 60,
  mintsPerKeyPerMinute: 60,
  mintsPerAccountPerMinute: 80,
  documentsPerAddressPerMinute: 600,
  tokenChecksPerAddressPerMinute: 60,
  pollsPerAddressPerMinute: 120,
} as const

/** The limits in force. Only a sandbox may use `off`. */
export type RateLimits = 'off' | Readonly<Record<keyof typeof DEFAULT_RATE_LIMITS, number>>

/** `off`, or a JSON object that overrides some defaults. */
export const rateLimits: Parser<RateLimits> = text => {
  if (text === 'off') return { value: 'off' }
  const names = Object.keys(DEFAULT_RATE_LIMITS)
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { expected: `must be off or a JSON object of ${names.join(', ')}` }
  }
  for (const [name, limit] of Object.entries(given)) {
    if (!names.includes(name)) return { expected: `has no limit "${name}": known are ${names.join(', ')}` }
    if (!Number.isSafeInteger(limit) || limit < 1) {
      return { expected: `${name} must be an integer of at least 1` }
    }
  }
  return { value: { ...DEFAULT_RATE_LIMITS, ...given } }
}
