import {
  type Clock,
  type FairQueue,
  integerOption,
  knownOptions,
  type OptionNames,
  systemClock,
} from '@gatewright/kernel'
import { CHALLENGE_OPTIONS, type ChallengeOptions } from './challenge.ts'
import { checkedQueue } from './queue-options.ts'
import {
  contractWallets,
  type ContractWalletOptions,
  type ContractWallets,
} from './signatures/contract-wallet.ts'
import { keccakWithJsSha3, recoverWithViem, type Keccak256, type Recover } from './signatures/recover.ts'
import type { ChallengeStorage, NonceStorage } from './storage/port.ts'
import type { Template } from './templates/line-template.ts'
import { agentBootstrap, bootstrap, boundBootstrap, signInWithEthereum } from './templates/built-in.ts'
import { isPlainLine } from './templates/plain-text.ts'

/** Options of `createVerifier`, checked once at construction (`TypeError`). */
export interface VerifierOptions {
  /** The host's name as wallets show it: one plain line of 1 to 64 characters, no space at either end. */
  readonly service: string
  /** Replay memory, shared by all hosts that accept the same statements. */
  readonly nonces: NonceStorage
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** The host's own authority (`app.example.com`, `localhost:3000`). Templates that bind it need it. */
  readonly domain?: string
  /** Longest life of a statement in ms, 1 000 to 86 400 000. Default 600 000; clients in use take 300 000. */
  readonly windowMs?: number
  /** How far a client's clock may be ahead, in ms, 0 to 600 000. Default 60 000. */
  readonly skewMs?: number
  /**
   * The templates that are accepted. Default A and B, and with a `domain` also v2 and EIP-4361. Without a hint or a
   * message, the first two that render from fields are tried, so a proof costs two recoveries at most; further
   * ones need the `template` hint.
   */
  readonly templates?: readonly Template[]
  /** Default: pure JS through viem. */
  readonly recover?: Recover
  /** Default: pure JS through js-sha3. `fastestRecover` gives a faster one with `recover`. */
  readonly keccak256?: Keccak256
  /** Bounds on signature checks, so that a flood of bad ones cannot starve the event loop. */
  readonly recoveries?: RecoveryLimits
  /** Contract wallets (ERC-1271, ERC-6492). Without it only keys can prove themselves, with no network. */
  readonly contractWallets?: ContractWalletOptions
  /** Templates whose nonce the server issues. `nonces` must then be a `ChallengeStorage`. Default none. */
  readonly challenges?: ChallengeOptions
}

const OPTIONS: OptionNames<VerifierOptions> = {
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

/** Bounds on signature checks in one process. Over them: 429 for the flooding address class, see `ProofContext`. */
export interface RecoveryLimits {
  /** Proofs under recovery at once, 1 to 1024. Default 1: more gains nothing unless `recover` leaves the thread. */
  readonly atOnce?: number
  /** Proofs that may wait, 1 to 65 536. Default 64: about 0.2 s of pure JS at most. */
  readonly waiting?: number
  /** Proofs of one address class that may wait, 1 to `waiting`. Default 8. */
  readonly waitingPerClass?: number
}

const RECOVERY_LIMITS: OptionNames<RecoveryLimits> = {
  atOnce: true,
  waiting: true,
  waitingPerClass: true,
}

/** Options with their defaults. */
export interface CheckedOptions
  extends Required<Omit<VerifierOptions, 'domain' | 'recoveries' | 'contractWallets' | 'challenges'>> {
  readonly domain: string | undefined
  /** Optional lines of text in a proof, those of the host's own templates included. */
  readonly lines: readonly string[]
  /** What is tried without a hint and without a message. */
  readonly rendered: readonly Template[]
  readonly recoveryQueue: FairQueue
  readonly contracts: ContractWallets | undefined
  readonly challenges: CheckedChallenges | undefined
}

const KNOWN = new Set([
  ...['address', 'nonce', 'issuedAt', 'expiresAt', 'chainId'],
  ...['domain', 'requestDigest', 'service'],
])

function checkedText(name: string, value: unknown, pattern: RegExp, expected: string): string {
  if (typeof value !== 'string' || !pattern.test(value) || !isPlainLine(value)) {
    const got = typeof value === 'string' ? 'other text' : typeof value
    throw new TypeError(`${name} must be ${expected}, not ${got}`)
  }
  return value
}

/** Challenge options with their storage. */
export interface CheckedChallenges {
  readonly storage: ChallengeStorage
  readonly templates: ReadonlySet<string>
  readonly ttlMs: number
}

function checkedChallenges(
  options: ChallengeOptions,
  nonces: NonceStorage,
  known: readonly Template[],
): CheckedChallenges {
  const { templates, ttlMs } = knownOptions('createVerifier challenges', options, CHALLENGE_OPTIONS)
  const storage = nonces as ChallengeStorage
  if (typeof storage.issue !== 'function' || typeof storage.consume !== 'function') {
    throw new TypeError('nonces must be a ChallengeStorage when challenges are given')
  }
  const unknown = templates.find(name => !known.some(template => template.name === name))
  if (unknown !== undefined)
    throw new TypeError(`challenges.templates names no template of this verifier: "${unknown}"`)
  return {
    storage,
    templates: new Set(templates),
    ttlMs: integerOption('challenges.ttlMs', ttlMs ?? 600_000, 10_000, 3_600_000),
  }
}

/**
 * How long proofs may hold the event loop before it has a turn, in ms. The last one runs on past it: 2.8 ms in pure JS
 * (two recoveries), a fraction of that otherwise. So no turn is longer than 5 ms.
 */
const TURN_MS = { viem: 2, other: 4.5 }

/** Checks options and fills in defaults. Throws a `TypeError` that names the option, its bounds and what came. */
export function checkedOptions(options: VerifierOptions): CheckedOptions {
  knownOptions('createVerifier', options, OPTIONS)
  const {
    nonces,
    clock = systemClock,
    recover = recoverWithViem,
    keccak256 = keccakWithJsSha3,
    domain,
    recoveries = {},
  } = options
  knownOptions('createVerifier recoveries', recoveries, RECOVERY_LIMITS)
  const bound = domain === undefined ? [] : [boundBootstrap, signInWithEthereum]
  const { templates = [bootstrap, agentBootstrap, ...bound] } = options
  if (typeof nonces?.claim !== 'function') throw new TypeError('nonces must be a NonceStorage')
  if (typeof clock?.now !== 'function') throw new TypeError('clock must have now()')
  if (typeof recover !== 'function') throw new TypeError(`recover must be a function, not ${typeof recover}`)
  if (typeof keccak256 !== 'function')
    throw new TypeError(`keccak256 must be a function, not ${typeof keccak256}`)
  if (templates.length === 0 || new Set(templates.map(template => template.name)).size !== templates.length) {
    throw new TypeError('templates must be given, each name once')
  }
  const needy = domain === undefined && templates.find(template => template.uses.includes('domain'))
  if (needy) throw new TypeError(`domain must be given for template "${needy.name}"`)
  return {
    service: checkedText(
      'service',
      options.service,
      /^(?! ).{1,64}(?<! )$/su,
      'one plain line of 1 to 64 characters',
    ),
    domain:
      domain === undefined ? undefined : checkedText('domain', domain, /^[^\s/@]{1,255}$/, 'an authority'),
    windowMs: integerOption('windowMs', options.windowMs ?? 600_000, 1000, 86_400_000),
    skewMs: integerOption('skewMs', options.skewMs ?? 60_000, 0, 600_000),
    ...{ nonces, clock, recover, keccak256, templates },
    rendered: templates.filter(template => template.source === 'fields').slice(0, 2),
    recoveryQueue: checkedQueue(
      'recoveries',
      { ...recoveries, atOnce: recoveries.atOnce ?? 1 },
      recover === recoverWithViem ? TURN_MS.viem : TURN_MS.other,
    ),
    challenges:
      options.challenges === undefined ? undefined : checkedChallenges(options.challenges, nonces, templates),
    contracts: options.contractWallets === undefined ? undefined : contractWallets(options.contractWallets),
    lines: [...new Set(['connector', 'walletLabel', ...templates.flatMap(template => template.uses)])].filter(
      field => !KNOWN.has(field),
    ),
  }
}
