import { randomBytes } from 'node:crypto'

/** Sizes of the policies and pay-ins of one caller. */
export interface Weight {
  /** Bytes of the JSON of each policy. */
  readonly policyBytes: number
  /** Limits of each policy. */
  readonly limits: number
  /** Policies of the keys from the root key to the one that is used, one for each key. */
  readonly keyPolicies: number
  /** Policies of sessions, one for each, in addition to those of the keys: each session but the last is the parent of the next. */
  readonly sessionPolicies: number
  /** Keys below the one that is used, each with a policy of its own. */
  readonly keysBelow: number
  /** Bytes of the JSON of the members that a pay-in keeps. */
  readonly payinBytes: number
}

/**
 * The largest that a host accepts. The policies of a session, with those of its keys and parents, have at most 32 KiB and 64 limits:
 * four policies of 8 KiB and 16 limits. A root key has at most 20 keys below it: the two to the one that is used, and 18 below that.
 * A policy or pay-in that is one byte larger is denied.
 */
export const HEAVIEST: Weight = {
  policyBytes: 8192,
  limits: 16,
  keyPolicies: 3,
  sessionPolicies: 1,
  keysBelow: 18,
  payinBytes: 4096,
}

const WINDOWS = ['day', 'month', 'total']
/** The most operations that a limit may name. */
const MAX_OPERATIONS = 100
/** The lengths of names of operations that do not exist. The longest is the host's limit. */
const SHORTEST_NAME = 6
const LONGEST_NAME = 100

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/**
 * Makes a policy of exactly `policyBytes` bytes. Every limit counts the operations `counted`, up to a maximum that no bench reaches,
 * and is filled up with names of operations that do not exist. No two policies are equal, so that a host can share nothing of them.
 */
export function heavyPolicy(
  { policyBytes, limits: count }: Pick<Weight, 'policyBytes' | 'limits'>,
  counted: readonly string[],
): object {
  const limits = Array.from({ length: count }, (_, index) => {
    // One name that can be made longer below, also if no more names fit.
    const operations = [...counted, unknownOperation(8)]
    return { maxCount: 1_000_000_000, window: WINDOWS[index % WINDOWS.length], operations }
  })
  const bytesLeft = Math.floor((policyBytes - bytesOf({ limits })) / count)
  const fillers = MAX_OPERATIONS - counted.length - 1
  // Each costs two quotes and a comma.
  const length = Math.min(LONGEST_NAME, Math.max(SHORTEST_NAME, Math.floor(bytesLeft / fillers) - 3))
  for (const limit of limits) {
    const names = Math.min(fillers, Math.floor(bytesLeft / (length + 3)))
    for (let n = 0; n < names; n++) limit.operations.push(unknownOperation(length))
  }
  for (const limit of limits) {
    const missing = Math.max(0, policyBytes - bytesOf({ limits }))
    const last = limit.operations.length - 1
    const name = limit.operations[last] as string
    limit.operations[last] = name + 'z'.repeat(Math.min(missing, LONGEST_NAME - name.length))
  }
  const bytes = bytesOf({ limits })
  if (bytes !== policyBytes)
    throw new Error(
      `the policy must have ${policyBytes} bytes, got ${bytes}: change the limits or the counted operations`,
    )
  return { limits }
}

/** A random name of `length` characters, at least SHORTEST_NAME. */
function unknownOperation(length: number): string {
  return `x.${randomBytes(length)
    .toString('hex')
    .slice(0, length - 2)}`
}

/** Makes the body of a pay-in whose stored members have exactly `bytes` bytes. */
export function heavyPayin(bytes: number): object {
  const metadata = { note: '' }
  metadata.note = 'n'.repeat(bytes - bytesOf({ metadata }))
  return { amountCents: 2500, metadata }
}
