import type { Parser } from '@gatewright/host/config'
import { configuredChainId } from '../chain/chain-id.ts'
import { isEthereumAddress, readAddress } from '../chain/addresses.ts'
import type { PayinReceiver } from '../chain/receivers.ts'
import { isUnspendable } from '../chain/unspendable.ts'
import { readXpub } from '../chain/xpub.ts'

/** An error text that follows the name of a field; undefined for a valid value. */
type Problem = string | undefined

const FIELDS: Readonly<Record<keyof PayinReceiver, (value: unknown) => Problem>> = {
  chainId: integer(1, Number.MAX_SAFE_INTEGER),
  asset: value =>
    typeof value === 'string' && /^[A-Za-z0-9._-]{1,16}$/.test(value)
      ? undefined
      : ' must be 1 to 16 letters, digits, dots, hyphens or underscores',
  token: address,
  decimals: integer(2, 36),
  receiver: receivingAddress,
  depositAddresses: addresses,
  xpub: value => {
    const read = value === undefined ? undefined : readXpub(value)
    return read && 'problem' in read ? read.problem : undefined
  },
  confirmations: integer(1, 10_000),
}
const DEFAULTS = { depositAddresses: [], confirmations: 12 }

/** A JSON array of receivers. A problem names the entry and the field: `[0].token must be ...`. */
export const payinReceivers: Parser<readonly PayinReceiver[]> = text => {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {}
  if (!Array.isArray(given)) {
    return { expected: `must be a JSON array of objects with ${Object.keys(FIELDS).join(', ')}` }
  }
  const receivers: PayinReceiver[] = []
  for (const [at, entry] of given.entries()) {
    const numbered = withChainNumber(entry)
    const problem = wrongEntry(numbered)
    if (problem !== undefined) return { expected: `[${at}]${problem}` }
    receivers.push(inLowerCase({ ...DEFAULTS, ...(numbered as PayinReceiver) }))
  }
  const repeated = repetition(receivers)
  return repeated === undefined ? { value: receivers } : { expected: repeated }
}

/** Replaces a chain such as `eip155:8453` by its number. */
function withChainNumber(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('chainId' in entry)) return entry
  const { chainId } = entry
  if (typeof chainId !== 'string' || !chainId.startsWith('eip155:')) return entry
  return { ...entry, chainId: configuredChainId(chainId) }
}

function wrongEntry(entry: unknown): Problem {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return ' must be an object'
  const names = Object.keys(FIELDS)
  const unknown = Object.keys(entry).find(name => !names.includes(name))
  if (unknown !== undefined) return ` has no field "${unknown}": known are ${names.join(', ')}`
  const given: Record<string, unknown> = { ...DEFAULTS, ...entry }
  for (const [name, check] of Object.entries(FIELDS)) {
    const problem = check(given[name])
    if (problem !== undefined) return `.${name}${problem}`
  }
  if (given['xpub'] === undefined || (given['depositAddresses'] as unknown[]).length === 0) return undefined
  return ' has both depositAddresses and xpub: give one of them'
}

function integer(least: number, most: number): (value: unknown) => Problem {
  return value =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : ` must be an integer from ${least} to ${most}`
}

function address(value: unknown): Problem {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value) || /^0x0{40}$/.test(value))
    return ' must be an address: 0x and 40 hex digits, not all zero'
  return isEthereumAddress(value) ? undefined : ' has a wrong checksum (EIP-55)'
}

/** An address that receives money: the host's operator must be able to spend from it. */
function receivingAddress(value: unknown): Problem {
  const problem = address(value)
  if (problem !== undefined) return problem
  const read = readAddress({ id: '', chainId: 1 }, String(value))
  return read && isUnspendable(read) ? ' must not be a burn address or a contract of the network' : undefined
}

function addresses(value: unknown): Problem {
  if (!Array.isArray(value)) return ' must be an array of addresses'
  for (const [at, each] of value.entries()) {
    const problem = receivingAddress(each)
    if (problem !== undefined) return `[${at}]${problem}`
  }
  return undefined
}

function inLowerCase(receiver: PayinReceiver): PayinReceiver {
  return {
    ...receiver,
    token: receiver.token.toLowerCase(),
    receiver: receiver.receiver.toLowerCase(),
    depositAddresses: receiver.depositAddresses.map(each => each.toLowerCase()),
  }
}

/** Finds two entries with the same asset name or token on one chain. */
function repetition(receivers: readonly PayinReceiver[]): Problem {
  const entries = new Map<string, number>()
  for (const [at, { chainId, asset, token }] of receivers.entries()) {
    for (const [field, value] of Object.entries({ asset: asset.toLowerCase(), token })) {
      const key = `${chainId} ${field} ${value}`
      const first = entries.get(key)
      if (first !== undefined) return `[${at}].${field} repeats [${first}].${field} on chain ${chainId}`
      entries.set(key, at)
    }
  }
  return collision(receivers)
}

/**
 * Finds an address with two roles, on any chain. Several tokens may have the same receiver, since the token distinguishes their
 * payments.
 */
function collision(receivers: readonly PayinReceiver[]): Problem {
  const roles = new Map(receivers.map(({ receiver }, at) => [receiver, `[${at}].receiver`]))
  for (const [at, { token }] of receivers.entries()) {
    if (roles.has(token)) return `[${at}].token is also ${roles.get(token)}`
  }
  for (const [at, { token }] of receivers.entries()) roles.set(token, `[${at}].token`)
  for (const [at, { depositAddresses }] of receivers.entries()) {
    for (const [index, each] of depositAddresses.entries()) {
      const role = `[${at}].depositAddresses[${index}]`
      if (roles.has(each)) return `${role} is also ${roles.get(each)}`
      roles.set(each, role)
    }
  }
  return undefined
}
