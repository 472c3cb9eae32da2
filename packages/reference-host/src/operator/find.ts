import { allow, type Verdict } from '@gatewright/kernel'
import { isStorableText } from '@gatewright/kernel/internal'
import { transactions } from '@gatewright/host'
import { accountsOfWallet, accountOfUser } from '../modules/find-account.ts'
import { cards } from '../modules/cards/store.ts'
import { payins } from '../modules/subscriptions/payins/payin-store.ts'
import { accountOfObject, type ObjectKind } from '../product/provider-objects.ts'
import { deny, type OperatorDenial } from './codes.ts'
import { ownersOf, type Owner } from './owners.ts'
import { findRequests, type NamedRequest } from './requests.ts'
import type { OperatorServices } from './services.ts'

type FindServices = Pick<
  OperatorServices,
  'sql' | 'clock' | 'keys' | 'issuer' | 'backend' | 'requestLog' | 'operationTitles'
>

/** How many accounts, or cards with the same last digits, are listed. */
const MOST = 50
/** Longer texts name nothing: the text of a key has less than 100 characters, a header with one less than 200. */
const LONGEST = 512

/** What a text was taken for. */
type FoundKind = 'key' | 'wallet' | 'account' | 'card' | 'transaction' | 'request'

/** What was found, by what the text was taken for. */
interface Found {
  readonly what: FoundKind
  /** What was looked for, without the secret of a key and the first digits of a card. */
  readonly id: string
  readonly accounts: readonly string[]
  readonly requests?: readonly NamedRequest[]
  readonly cards?: readonly {
    readonly accountId: string
    readonly id: string
    readonly last4: string
    readonly status: string
  }[]
}

/** An account that was found, with its cards among those that were looked for. */
type FoundAccount = Owner & { readonly cards: Found['cards'] }

/**
 * Finds the accounts that a text names: the whole text or the id of a key, a wallet, the id of an account, user, partner, card, transaction, request or
 * of what a provider works on, or the last four digits of a card. Only the id of a key is used of its text, and only the last four digits of a whole card number; the
 * rest is neither stored nor repeated. Denial: `invalid_request`. Nothing found: no accounts and no requests.
 */
export async function find(
  services: FindServices,
  { text }: Readonly<Record<string, unknown>>,
): Promise<Verdict<object, OperatorDenial>> {
  if (typeof text !== 'string' || text.trim() === '' || text.length > LONGEST || !isStorableText(text))
    return deny('invalid_request', `text must have 1 to ${LONGEST} characters`, { field: 'text' })
  const { what, id, accounts, requests = [], cards: found } = await lookUp(services, text.trim())
  const owners = await ownersOf(services.sql, [...new Set(accounts)].slice(0, MOST))
  const described = owners.map(
    (owner): FoundAccount => ({ ...owner, cards: found?.filter(card => card.accountId === owner.accountId) }),
  )
  return allow({ what, id, accounts: described, more: accounts.length > MOST, requests })
}

/** The text of a key somewhere in a text, such as a header: its id is between its surface and its secret. */
const KEY_TEXT = /_(?:user|partner)_([0-9A-Za-z]{16})(?![0-9A-Za-z])/
const KEY_ID = /^[0-9A-Za-z]{16}$/
/** A whole card number, which must go no further. No id of a key has digits only, but for one in 10^12. */
const CARD_NUMBER = /^\d(?:[ -]?\d){7,14}[ -]?(\d{4})$/
const LAST_DIGITS = /^(\d{4})$/
const WALLET = /^(?:eip155:\d+:)?(0x[0-9a-f]{40})$/i
const OBJECTS: Readonly<Record<string, ObjectKind>> = {
  auth: 'authorization',
  card: 'card',
  dep: 'deposit',
  kyc: 'kyc',
  wd: 'withdrawal',
}

async function lookUp(services: FindServices, text: string): Promise<Found> {
  const { sql, keys } = services
  const keyId = KEY_TEXT.exec(text)?.[1] ?? (CARD_NUMBER.test(text) ? undefined : KEY_ID.exec(text)?.[0])
  const key = keyId === undefined ? undefined : await keys.find(keyId)
  if (keyId !== undefined && (key || KEY_TEXT.test(text)))
    return { what: 'key', id: keyId, accounts: key ? [key.accountId] : [] }
  const last4 = (CARD_NUMBER.exec(text) ?? LAST_DIGITS.exec(text))?.[1]
  if (last4 !== undefined) {
    const found = await cards.withLast4(sql, last4, MOST + 1)
    return { what: 'card', id: last4, accounts: found.map(({ accountId }) => accountId), cards: found }
  }
  const wallet = WALLET.exec(text)?.[1]?.toLowerCase()
  if (wallet !== undefined)
    return { what: 'wallet', id: wallet, accounts: await accountsOfWallet(sql, wallet) }
  const object = OBJECTS[text.slice(0, Math.max(0, text.indexOf('_')))]
  if (object !== undefined) {
    const accountId = await accountOfObject(sql, object, text)
    return { what: object === 'card' ? 'card' : 'transaction', id: text, accounts: listOf(accountId) }
  }
  if (text.startsWith('txn_'))
    return { what: 'transaction', id: text, accounts: listOf(await transactions.accountOf(sql, text)) }
  if (text.startsWith('payin_'))
    return { what: 'transaction', id: text, accounts: listOf(await payins.accountOfOpen(sql, text)) }
  const owners = await ownersOf(sql, [accountOfUser(text)])
  if (owners.length > 0 || /^(?:acc|usr)_/.test(text))
    return { what: 'account', id: text, accounts: owners.map(({ accountId }) => accountId) }
  const found = await findRequests(services, text)
  return {
    what: 'request',
    id: text,
    accounts: found.flatMap(({ accountId }) => accountId ?? []),
    requests: found,
  }
}

const listOf = (accountId: string | undefined): readonly string[] =>
  accountId === undefined ? [] : [accountId]
