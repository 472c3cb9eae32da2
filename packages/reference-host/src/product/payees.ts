import { allow, type Denial, type Verdict } from '@gatewright/kernel'
import type { Merchant } from '@gatewright/host'
import type { Policy } from '@gatewright/scope-guard'
import { deny } from './denials.ts'

/** The names by which `payees` and `denyPayees` of a policy know another user: `account:ID`, and `wallet:0x...` in lower case. */
export const userPayee = (accountId: string, walletAddress: string): readonly string[] => [
  `account:${accountId}`,
  `wallet:${walletAddress.toLowerCase()}`,
]

/** The name of who is owed a bill: `biller:` and the text of the bill. */
export const billerPayee = (payee: string): string => `biller:${payee}`

/** The name of an address to which money is withdrawn: `address:NETWORK:ADDRESS`, as the host keeps both. */
export const addressPayee = ({
  network,
  address,
}: {
  readonly network: string
  readonly address: string
}): string => `address:${network}:${address}`

/** The names of who is paid by card: `merchant:NAME`, `mcc:5411`, `country:DE`. A network gives no id of a merchant, so it is known by its name. */
export const merchantPayee = ({ name, mcc, country }: Merchant): readonly string[] => [
  `merchant:${name}`,
  `mcc:${mcc}`,
  `country:${country}`,
]

/** The name of what a pay-in pays for: `plan:ID`, or the caller's own account where it fills the balance. */
export const payinPayee = (accountId: string, planId: string | null): string =>
  planId === null ? `account:${accountId}` : `plan:${planId}`

/** Each kind of payee, with how its names are written. Another spelling would match nothing, so that a denied payee would be paid. */
const KINDS: Readonly<Record<string, readonly [form: RegExp, expected: string]>> = {
  account: [/^acc_\w+$/, 'account:acc_ and the rest of its id'],
  wallet: [/^0x[0-9a-f]{40}$/, 'wallet:0x and 40 hex digits in lower case'],
  biller: [/^.+$/s, 'biller: and the payee of the bill'],
  address: [
    /^[a-z0-9_-]+:(?:0x[0-9a-f]+|(?!0[xX]).+)$/,
    'address:NETWORK:ADDRESS, in lower case where the address begins with 0x',
  ],
  merchant: [/^.+$/s, 'merchant: and the name of the merchant'],
  mcc: [/^\d{4}$/, 'mcc: and 4 digits'],
  country: [/^[A-Z]{2}$/, 'country: and 2 capital letters'],
  plan: [/^.+$/s, 'plan: and the id of a plan'],
}

/** Decides whether the host knows the kind of every payee that a policy lists, and whether it is written as the host writes it. */
export function checkPayees(
  { payees = [], denyPayees = [] }: Policy,
  field: string,
): Verdict<undefined, Denial> {
  for (const [member, names] of [
    ['payees', payees],
    ['denyPayees', denyPayees],
  ] as const) {
    for (const [index, name] of names.entries()) {
      const problem = problemOf(name)
      const at = `${field}.${member}[${index}]`
      if (problem !== undefined) return deny('invalid_request', `${at} ${problem}`, { field: at })
    }
  }
  return allow(undefined)
}

function problemOf(name: string): string | undefined {
  const kind = name.slice(0, Math.max(0, name.indexOf(':')))
  const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (!known) return `must begin with one of ${Object.keys(KINDS).join(':, ')}:`
  const [form, expected] = known
  return form.test(name.slice(kind.length + 1)) ? undefined : `must be ${expected}`
}
