import {
  type Clock,
  type FairQueue,
  integerOption,
  checkOptions,
  type OptionTable,
  systemClock,
} from '@gatewright/kernel'
import { checkedChallenges, type ChallengeOptions } from './challenge.ts'
import { createCheckQueue, QUEUE_LIMITS, type QueueLimits } from './queue-options.ts'
import { createContractWallets, type ContractWalletOptions } from './signatures/contract-wallet.ts'
import { keccakWithJsSha3, recoverWithJs, type Keccak256, type Recover } from './signatures/recover.ts'
import type { NonceStorage } from './storage/port.ts'
import type { Template } from './templates/template.ts'
import { agentBootstrap, bootstrap, boundBootstrap, signInWithEthereum } from './templates/built-in.ts'
import { isPlainLine } from './templates/plain-text.ts'

/** Options of `createVerifier`, checked once at construction (`TypeError`). */
export interface VerifierOptions {
  /** The host's name as wallets show it: one plain line of 1 to 64 characters, no space at either end. */
  readonly service: string
  /** Replay protection, shared by all hosts that accept the same statements. */
  readonly nonces: NonceStorage
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** The host's own authority (`app.example.com`, `localhost:3000`). Templates that bind the domain need it. */
  readonly domain?: string
  /** Longest time from `issuedAt` to `expiresAt` in ms, 1 000 to 86 400 000. Default 600 000; existing clients use 300 000. */
  readonly windowMs?: number
  /** How far a client's clock may be ahead, in ms, 0 to 600 000. Default 60 000. */
  readonly skewMs?: number
  /**
   * The accepted templates. Default A and B, and with a `domain` also v2 and EIP-4361. Without `template` and `message`
   * in the proof, the verifier tries the first two templates that render from fields, so a proof costs two recoveries
   * at most; any other template must be named in `template`.
   */
  readonly templates?: readonly Template[]
  /** Recovers public keys. Default: pure JS through @noble/curves. */
  readonly recover?: Recover
  /** Computes Keccak-256. Default: pure JS through js-sha3. `fastestRecover` finds a faster one together with `recover`. */
  readonly keccak256?: Keccak256
  /** Bounds on signature checks, so that a flood of bad signatures cannot block the event loop. */
  readonly recoveries?: QueueLimits
  /**
   * Contract wallets (ERC-1271, ERC-6492). Without this option only wallets with a private key (EOAs) are verified, and no
   * network is used.
   */
  readonly contractWallets?: ContractWalletOptions
  /** Templates whose nonce the server issues; `nonces` must then be a `ChallengeStorage`. Default none. */
  readonly challenges?: ChallengeOptions
}

const OPTIONS: OptionTable<VerifierOptions> = {
  service: true,
  nonces: true,
  clock: true,
  domain: true,
  windowMs: true,
  skewMs: true,
  templates: true,
  recover: true,
  keccak256: true,
  recoveries: true,
  contractWallets: true,
  challenges: true,
}

/** The checked options with their defaults. */
export interface CheckedOptions
  extends Required<Omit<VerifierOptions, 'domain' | 'recoveries' | 'contractWallets' | 'challenges'>> {
  readonly domain: string | undefined
  /** Names of the optional text fields of a proof, those of the host's own templates included. */
  readonly lines: readonly string[]
  /** The templates that are tried when the proof has neither `template` nor `message`. */
  readonly rendered: readonly Template[]
  readonly recoveryQueue: FairQueue
  readonly contracts: ReturnType<typeof createContractWallets> | undefined
  readonly challenges: ReturnType<typeof checkedChallenges> | undefined
}

const KNOWN = new Set([
  'address',
  'nonce',
  'issuedAt',
  'expiresAt',
  'chainId',
  'domain',
  'requestDigest',
  'service',
])

function checkedText(name: string, value: unknown, pattern: RegExp, expected: string): string {
  if (typeof value !== 'string' || !pattern.test(value) || !isPlainLine(value)) {
    const got = typeof value === 'string' ? JSON.stringify(value) : typeof value
    throw new TypeError(`${name} must be ${expected}, got ${got}`)
  }
  return value
}

/**
 * How long checks may block the event loop before other work runs, in ms. The check that reaches this limit is the last of its
 * turn; it takes up to 2.8 ms in pure JS (two recoveries) and a fraction of that otherwise. So checks block the event loop for
 * at most 5 ms.
 */
const MAX_TURN_MS = { js: 2, other: 4.5 }

/** Throws a `TypeError` for an option of the wrong type. */
function assertTypes({ nonces, clock, recover, keccak256, templates, domain }: WithDefaults): void {
  if (typeof nonces?.claim !== 'function')
    throw new TypeError(`nonces must be a NonceStorage with a function claim(), got ${typeof nonces}`)
  if (typeof clock?.now !== 'function') throw new TypeError('clock must have a function now()')
  if (typeof recover !== 'function') throw new TypeError(`recover must be a function, got ${typeof recover}`)
  if (typeof keccak256 !== 'function')
    throw new TypeError(`keccak256 must be a function, got ${typeof keccak256}`)
  if (templates.length === 0 || new Set(templates.map(template => template.name)).size !== templates.length) {
    throw new TypeError('templates must be a list of at least one template, each with a name of its own')
  }
  const needsDomain = domain === undefined && templates.find(template => template.uses.includes('domain'))
  if (needsDomain) throw new TypeError(`domain must be given for template "${needsDomain.name}"`)
}

type WithDefaults = VerifierOptions &
  Required<Pick<VerifierOptions, 'clock' | 'recover' | 'keccak256' | 'templates'>>

function withDefaults(options: VerifierOptions): WithDefaults {
  const bound = options.domain === undefined ? [] : [boundBootstrap, signInWithEthereum]
  return {
    ...options,
    clock: options.clock ?? systemClock,
    recover: options.recover ?? recoverWithJs,
    keccak256: options.keccak256 ?? keccakWithJsSha3,
    templates: options.templates ?? [bootstrap, agentBootstrap, ...bound],
  }
}

/** Checks the options and adds the defaults. Throws a `TypeError` that names the option, its bounds and the given value. */
export function checkedOptions(given: VerifierOptions): CheckedOptions {
  const options = withDefaults(checkOptions('createVerifier', given, OPTIONS))
  const { nonces, clock, recover, keccak256, templates, domain } = options
  const { recoveries = {}, challenges, contractWallets } = options
  const limits = checkOptions('createVerifier recoveries', recoveries, QUEUE_LIMITS)
  assertTypes(options)
  const service = /^(?! ).{1,64}(?<! )$/su
  const turnMs = recover === recoverWithJs ? MAX_TURN_MS.js : MAX_TURN_MS.other
  const texts = new Set(['connector', 'walletLabel', ...templates.flatMap(template => template.uses)])
  return {
    service: checkedText('service', options.service, service, 'one plain line of 1 to 64 characters'),
    domain:
      domain === undefined ? undefined : checkedText('domain', domain, /^[^\s/@]{1,255}$/, 'an authority'),
    windowMs: integerOption('windowMs', options.windowMs ?? 600_000, 1000, 86_400_000),
    skewMs: integerOption('skewMs', options.skewMs ?? 60_000, 0, 600_000),
    nonces,
    clock,
    recover,
    keccak256,
    templates,
    rendered: templates.filter(template => template.source === 'fields').slice(0, 2),
    recoveryQueue: createCheckQueue('recoveries', limits, 1, turnMs),
    challenges: challenges === undefined ? undefined : checkedChallenges(challenges, nonces, templates),
    contracts: contractWallets === undefined ? undefined : createContractWallets(contractWallets),
    lines: [...texts].filter(field => !KNOWN.has(field)),
  }
}
