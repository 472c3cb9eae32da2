import { counted } from '../../shared/counted.ts'

const SECRET_SCOPE = 'cards.secrets.read'

/** What each group of scopes is about. A group without an entry is named by its tag. */
const GROUPS: Readonly<Record<string, string>> = {
  balances: 'Balance',
  contracts: 'Savings contracts',
  identity: 'Credential',
  kyc: 'Identity check',
  onboarding: 'Set-up',
  spotlight: 'Spotlight',
  subscriptions: 'Subscriptions and pay-ins',
  support: 'Support',
  users: 'Profile',
}

/** What a scope allows beyond what its name says. */
const WARNINGS: Readonly<Record<string, string>> = {
  [SECRET_SCOPE]: 'shows card numbers',
  'keys.write': 'makes and revokes keys',
  'withdrawals.write': 'moves money out',
}

/** The scopes with which money can leave the account. */
const MONEY_SCOPES: readonly string[] = [
  'bills.write',
  'cards.write',
  'payments.write',
  'subscriptions.write',
  'withdrawals.write',
]

/** Scopes of one group, such as `cards.read` and `cards.write` of Cards. */
export interface ScopeGroup {
  readonly name: string
  readonly scopes: readonly string[]
}

/** Groups scopes by their tag, sorted by the name of the group. */
export function scopeGroups(scopes: readonly string[]): ScopeGroup[] {
  const tags = new Set(scopes.map(tagOf))
  const groups = [...tags].map(tag => ({
    name: groupName(tag),
    scopes: scopes.filter(scope => tagOf(scope) === tag),
  }))
  return groups.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** Returns the scopes that only read, and show no secret. */
export function readScopes(scopes: readonly string[]): string[] {
  return scopes.filter(isRead)
}

/** What a person must know of a scope; empty for most. */
export const scopeWarning = (scope: string): string => WARNINGS[scope] ?? ''

/** Names a scope within its group, such as "read" of `cards.read`. */
export const scopeName = (scope: string): string => scope.slice(tagOf(scope).length + 1).replace('.', ' ')

/** Whether money can leave the account with these scopes. */
export const canPay = (scopes: readonly string[]): boolean =>
  scopes.some(scope => MONEY_SCOPES.includes(scope))

/** How many groups a summary names. */
const NAMED_GROUPS = 2

/** Sums scopes up in a few words, such as "Read only" or "Cards, Payments". `all` are the scopes that a key can have. */
export function rightsWords(scopes: readonly string[], all: readonly string[]): string {
  if (scopes.length === 0) return 'Nothing'
  if (scopes.length === all.length) return 'Everything'
  const writes = scopes.filter(scope => !isRead(scope))
  const isWide = readScopes(all).every(scope => scopes.includes(scope))
  if (writes.length === 0 && isWide) return 'Read only'
  const names = scopeGroups(writes.length > 0 ? writes : scopes).map(({ name }) => name)
  const rest = names.length - NAMED_GROUPS
  const shown = names.slice(0, NAMED_GROUPS).join(', ')
  const words = rest > 0 ? `${shown} and ${counted(rest, 'more group')}` : shown
  return writes.length > 0 ? words : `Reads ${words}`
}

const tagOf = (scope: string): string => scope.slice(0, scope.indexOf('.'))
const groupName = (tag: string): string => GROUPS[tag] ?? tag.charAt(0).toUpperCase() + tag.slice(1)
const isRead = (scope: string): boolean => scope.endsWith('.read') && scope !== SECRET_SCOPE
