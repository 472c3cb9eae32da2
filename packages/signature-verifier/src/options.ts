import { checkOptions, systemClock, type FairQueue } from '@gatewright/kernel/internal'
import type { Clock, EpochMs } from '@gatewright/kernel'
import { checkedChallenges, type ChallengeOptions } from './challenge.ts'
import { createCheckQueue, queueLimits, type QueueLimits } from './queue-options.ts'
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
  /** Longest time from `issuedAt` to `expiresAt` in ms, 1000 to 86 400 000, default 600 000; existing clients use 300 000. */
  readonly windowMs?: number
  /**
   * Returns the earliest `issuedAt` of accepted statements. Set it after the store of used nonces was brought back to an earlier time: it
   * has forgotten which older statements were used. Called for each valid signature. Its faults are those of `verify`. Default: none.
   */
  readonly issuedFrom?: () => Promise<EpochMs>
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

/** Checks the options and adds the defaults. Throws a `TypeError` that names the option, what was expected and what came. */
export function checkedOptions(given: VerifierOptions): CheckedOptions {
  const bound = given?.domain === undefined ? [] : [boundBootstrap, signInWithEthereum]
  const { contractWallets, ...options } = checkOptions('createVerifier', given, {
    service: true,
    nonces: true,
    clock: { default: systemClock },
    domain: true,
    windowMs: { min: 1000, max: 86_400_000, default: 600_000 },
    issuedFrom: { default: async () => 0 },
    templates: { default: [bootstrap, agentBootstrap, ...bound] },
    recover: { default: recoverWithJs },
    keccak256: { default: keccakWithJsSha3 },
    recoveries: true,
    contractWallets: true,
    challenges: true,
  })
  const { nonces, domain, templates, recover, challenges } = options
  if (typeof nonces?.claim !== 'function')
    throw new TypeError(`nonces must be a NonceStorage with a function claim(), got ${typeof nonces}`)
  if (typeof options.issuedFrom !== 'function')
    throw new TypeError(`issuedFrom must be a function, got ${typeof options.issuedFrom}`)
  if (typeof options.clock.now !== 'function') throw new TypeError('clock must have a function now()')
  if (templates.length === 0 || new Set(templates.map(template => template.name)).size !== templates.length) {
    throw new TypeError('templates must be a list of at least one template, each with a name of its own')
  }
  const needsDomain = domain === undefined && templates.find(template => template.uses.includes('domain'))
  if (needsDomain) throw new TypeError(`domain must be given for template "${needsDomain.name}"`)
  const service = /^(?! ).{1,64}(?<! )$/su
  const texts = new Set(['connector', 'walletLabel', ...templates.flatMap(template => template.uses)])
  return {
    ...options,
    service: checkedText('service', options.service, service, 'one plain line of 1 to 64 characters'),
    domain:
      domain === undefined ? undefined : checkedText('domain', domain, /^[^\s/@]{1,255}$/, 'an authority'),
    rendered: templates.filter(template => template.source === 'fields').slice(0, 2),
    recoveryQueue: createRecoveryQueue(options.recoveries, recover),
    challenges: challenges === undefined ? undefined : checkedChallenges(challenges, nonces, templates),
    contracts: contractWallets === undefined ? undefined : createContractWallets(contractWallets),
    lines: [...texts].filter(field => !KNOWN.has(field)),
  }
}

function createRecoveryQueue(given: QueueLimits = {}, recover: Recover): FairQueue {
  const limits = checkOptions('createVerifier recoveries', given, queueLimits(1))
  const turnMs = recover === recoverWithJs ? MAX_TURN_MS.js : MAX_TURN_MS.other
  return createCheckQueue('createVerifier recoveries', limits, turnMs)
}
