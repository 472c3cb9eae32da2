import {
  type Clock,
  type FairQueue,
  integerOption,
  knownOptions,
  type OptionNames,
  systemClock,
} from '@gatewright/kernel'
import { CHALLENGE_OPTIONS, type ChallengeOptions } from './challenge.ts'
import { createCheckQueue, QUEUE_LIMITS, type QueueLimits } from './queue-options.ts'
import {
  createContractWallets,
  type ContractWalletOptions,
  type ContractWallets,
} from './signatures/contract-wallet.ts'
import { keccakWithJsSha3, recoverWithViem, type Keccak256, type Recover } from './signatures/recover.ts'
import type { ChallengeStorage, NonceStorage } from './storage/port.ts'
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
  /**
   * Longest time from `issuedAt` to `expiresAt` in ms, 1 000 to 86 400 000. Default 600 000; clients in use take 300
   * 000.
   */
  readonly windowMs?: number
  /** How far a client's clock may be ahead, in ms, 0 to 600 000. Default 60 000. */
  readonly skewMs?: number
  /**
   * The accepted templates. Default A and B, and with a `domain` also v2 and EIP-4361. Without `template` and `message`
   * in the proof, the verifier tries the first two templates that render from fields, so a proof costs two recoveries
   * at most; any other template must be named in `template`.
   */
  readonly templates?: readonly Template[]
  /** Default: pure JS through viem. */
  readonly recover?: Recover
  /** Default: pure JS through js-sha3. `fastestRecover` finds a faster one together with `recover`. */
  readonly keccak256?: Keccak256
  /** Bounds on signature checks, so that a flood of bad signatures cannot block the event loop. */
  readonly recoveries?: QueueLimits
  /**
   * Contract wallets (ERC-1271, ERC-6492). Without this option only keys can prove themselves, and no network is used.
   */
  readonly contractWallets?: ContractWalletOptions
  /** Templates whose nonce the server issues; `nonces` must then be a `ChallengeStorage`. Default none. */
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

/** The checked options with their defaults. */
export interface CheckedOptions
  extends Required<Omit<VerifierOptions, 'domain' | 'recoveries' | 'contractWallets' | 'challenges'>> {
  readonly domain: string | undefined
  /** Names of the optional text fields of a proof, those of the host's own templates included. */
  readonly lines: readonly string[]
  /** The templates that are tried when the proof has neither `template` nor `message`. */
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
    const got = typeof value === 'string' ? JSON.stringify(value) : typeof value
    throw new TypeError(`${name} must be ${expected}, got ${got}`)
  }
  return value
}

/** Challenge options with their storage. */
interface CheckedChallenges {
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
    throw new TypeError('nonces must be a ChallengeStorage (issue and consume) when challenges is given')
  }
  const unknown = templates.find(name => !known.some(template => template.name === name))
  if (unknown !== undefined)
    throw new TypeError(`challenges.templates must name templates of this verifier, got "${unknown}"`)
  return {
    storage,
    templates: new Set(templates),
    ttlMs: integerOption('challenges.ttlMs', ttlMs ?? 600_000, 10_000, 3_600_000),
  }
}

/**
 * How long checks may hold the event loop before other work has a turn, in ms. A turn ends after the check that passes
 * this limit; that check takes up to 2.8 ms in pure JS (two recoveries) and a fraction of it otherwise. So no turn
 * takes longer than 5 ms.
 */
const MAX_TURN_MS = { viem: 2, other: 4.5 }

/** Checks the options and adds the defaults. Throws a `TypeError` that names the option, its bounds and what came. */
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
  knownOptions('createVerifier recoveries', recoveries, QUEUE_LIMITS)
  const bound = domain === undefined ? [] : [boundBootstrap, signInWithEthereum]
  const { templates = [bootstrap, agentBootstrap, ...bound] } = options
  if (typeof nonces?.claim !== 'function')
    throw new TypeError('nonces must be a NonceStorage, got an object without claim()')
  if (typeof clock?.now !== 'function') throw new TypeError('clock must have a function now()')
  if (typeof recover !== 'function') throw new TypeError(`recover must be a function, got ${typeof recover}`)
  if (typeof keccak256 !== 'function')
    throw new TypeError(`keccak256 must be a function, got ${typeof keccak256}`)
  if (templates.length === 0 || new Set(templates.map(template => template.name)).size !== templates.length) {
    throw new TypeError('templates must be a list of at least one template, each with a name of its own')
  }
  const needsDomain = domain === undefined && templates.find(template => template.uses.includes('domain'))
  if (needsDomain) throw new TypeError(`domain must be given for template "${needsDomain.name}"`)
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
    recoveryQueue: createCheckQueue(
      'recoveries',
      recoveries,
      1,
      recover === recoverWithViem ? MAX_TURN_MS.viem : MAX_TURN_MS.other,
    ),
    challenges:
      options.challenges === undefined ? undefined : checkedChallenges(options.challenges, nonces, templates),
    contracts:
      options.contractWallets === undefined ? undefined : createContractWallets(options.contractWallets),
    lines: [...new Set(['connector', 'walletLabel', ...templates.flatMap(template => template.uses)])].filter(
      field => !KNOWN.has(field),
    ),
  }
}
