import { systemClock, type Clock } from '@gatewright/kernel'
import { recoverWithViem, type Recover } from './recover.ts'
import type { NonceStorage } from './storage/port.ts'
import type { Template } from './template.ts'
import { agentBootstrap, bootstrap, boundBootstrap } from './templates.ts'
import { isPlainLine } from './text.ts'

/** Options of `createVerifier`, checked once at construction (`TypeError`). */
export interface VerifierOptions {
  /** The host's name as wallets show it: one plain line of 1 to 64 characters, no space at either end. */
  readonly service: string
  /** Replay memory, shared by all hosts that accept the same statements. */
  readonly nonces: NonceStorage
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** The host's own authority (`app.example.com`, `localhost:3000`). Without it no `message` that names one passes. */
  readonly domain?: string
  /** Longest life of a statement in ms, 1 000 to 86 400 000. Default 600 000; clients in use take 300 000. */
  readonly windowMs?: number
  /** How far a client's clock may be ahead, in ms, 0 to 600 000. Default 60 000. */
  readonly skewMs?: number
  /**
   * The templates that are accepted. Default A, B and v2. Without a hint or a message, the first two that render
   * from fields are tried, so a proof costs two recoveries at most; further ones need the `template` hint.
   */
  readonly templates?: readonly Template[]
  /** Default: pure JS through viem. */
  readonly recover?: Recover
}

/** Options with their defaults. */
export interface CheckedOptions extends Required<Omit<VerifierOptions, 'domain'>> {
  readonly domain: string | undefined
  /** Fields that the host's own templates use beyond the known ones. */
  readonly extras: readonly string[]
}

const KNOWN = new Set([
  ...['address', 'nonce', 'issuedAt', 'expiresAt', 'connector', 'chainId', 'walletLabel'],
  ...['domain', 'requestDigest', 'service'],
])

function checkedText(name: string, value: unknown, pattern: RegExp, expected: string): string {
  if (typeof value !== 'string' || !pattern.test(value) || !isPlainLine(value)) {
    const got = typeof value === 'string' ? 'other text' : typeof value
    throw new TypeError(`${name} must be ${expected}, not ${got}`)
  }
  return value
}

function checkedMs(name: string, value: unknown, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
    throw new TypeError(`${name} must be an integer of ${least} to ${most} ms, not ${String(value)}`)
  }
  return value as number
}

/** Checks options and fills in defaults. Throws a `TypeError` that names the option, its bounds and what came. */
export function checkedOptions(options: VerifierOptions): CheckedOptions {
  const { nonces, clock = systemClock, recover = recoverWithViem, domain } = options
  const { templates = [bootstrap, agentBootstrap, boundBootstrap] } = options
  if (typeof nonces?.claim !== 'function') throw new TypeError('nonces must be a NonceStorage')
  if (typeof clock?.now !== 'function') throw new TypeError('clock must have now()')
  if (typeof recover !== 'function') throw new TypeError(`recover must be a function, not ${typeof recover}`)
  if (templates.length === 0 || new Set(templates.map(template => template.name)).size !== templates.length) {
    throw new TypeError('templates must be given, each name once')
  }
  return {
    service: checkedText(
      'service',
      options.service,
      /^(?! ).{1,64}(?<! )$/su,
      'one plain line of 1 to 64 characters',
    ),
    domain:
      domain === undefined ? undefined : checkedText('domain', domain, /^[^\s/@]{1,255}$/, 'an authority'),
    windowMs: checkedMs('windowMs', options.windowMs ?? 600_000, 1000, 86_400_000),
    skewMs: checkedMs('skewMs', options.skewMs ?? 60_000, 0, 600_000),
    ...{ nonces, clock, recover, templates },
    extras: [...new Set(templates.flatMap(template => template.uses))].filter(field => !KNOWN.has(field)),
  }
}
