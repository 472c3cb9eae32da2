import { randomBytes } from 'node:crypto'

/** How heavy the documents of a caller are. */
export interface Weight {
  /** Bytes of the JSON of each policy. */
  readonly policyBytes: number
  /** Limits of each policy. */
  readonly limits: number
  /** Policies of the keys on the way from the root key to the one that is used, one for each key. */
  readonly keyPolicies: number
  /** Policies of sessions on top: each session but the last is the parent of the next. */
  readonly sessionPolicies: number
  /** Keys below the one that is used, each with a policy of its own. */
  readonly keysBelow: number
  /** Bytes of the JSON of the members that a pay-in keeps. */
  readonly payinBytes: number
}

/**
 * The heaviest that a host accepts: a chain has at most 32 KiB and 64 limits, so four policies of 8 KiB and 16 limits; a key
 * has at most 20 keys below it. One byte more of a policy or a pay-in is denied.
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
const OPERATIONS = 100

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/**
 * Makes a policy of exactly so many bytes whose limits all count these operations, up to counts that no bench reaches. The rest are
 * names of operations that do not exist, as short as fit. No two policies are equal: nothing that is made of them can be shared.
 */
export function heavyPolicy(
  { policyBytes, limits: count }: Pick<Weight, 'policyBytes' | 'limits'>,
  counted: readonly string[],
): object {
  const limits = Array.from({ length: count }, (_, index) => {
    const operations = [...counted, unknownOperation(8)]
    return { maxCount: 1_000_000_000, window: WINDOWS[index % WINDOWS.length], operations }
  })
  const bytesLeft = Math.floor((policyBytes - bytesOf({ limits })) / count)
  const fillers = OPERATIONS - counted.length - 1
  // Each costs two quotes and a comma; the shortest name has 6 characters.
  const length = Math.min(100, Math.max(6, Math.floor(bytesLeft / fillers) - 3))
  for (const limit of limits) {
    const names = Math.min(fillers, Math.floor(bytesLeft / (length + 3)))
    for (let n = 0; n < names; n++) limit.operations.push(unknownOperation(length))
  }
  for (const limit of limits) {
    const missing = policyBytes - bytesOf({ limits })
    const last = limit.operations.length - 1
    const name = limit.operations[last] as string
    limit.operations[last] = name + 'z'.repeat(Math.min(missing, 100 - name.length))
  }
  const bytes = bytesOf({ limits })
  if (bytes !== policyBytes) throw new Error(`the policy has ${bytes} bytes, ${policyBytes} wanted`)
  return { limits }
}

/** A name of so many characters, at least 6, that hardly any other limit has. */
function unknownOperation(length: number): string {
  return `x.${randomBytes(length).toString('hex').slice(2, length)}`
}

/** Makes the body of a pay-in that keeps exactly so many bytes. */
export function heavyPayin(bytes: number): object {
  const metadata = { note: '' }
  metadata.note = 'n'.repeat(bytes - bytesOf({ metadata }))
  return { amountCents: 2500, metadata }
}
