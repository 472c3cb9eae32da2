import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { HostDenial } from '@gatewright/host'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import { branchOfXpub, type AddressBranch } from '../../../chain/xpub.ts'
import { deny, type ProductRule } from '../../../product/denials.ts'

/** The request of a deposit address. */
export interface AddressRequest {
  readonly accountId: string
  /** `addressBucket` of the client's address: all accounts of one client share a limit. */
  readonly clientBucket: string
  readonly now: EpochMs
}

/** Allocates deposit addresses, each of which serves one pay-in. */
export interface AddressAllocator {
  /**
   * Allocates an address in the caller's transaction: the next one of the receiver's xpub, or a free one of its list; undefined
   * when the list has none left. A rollback frees the address. Simultaneous calls for one source run one after another, so that
   * no two get the same index and no limit is exceeded. Denial: `policy_blocked`, when the account or the client has too many
   * unpaid addresses.
   */
  allocate(
    tx: SqlQueries,
    receiver: PayinReceiver,
    request: AddressRequest,
  ): Promise<Verdict<string | undefined, HostDenial>>
}

const DAY_MS = 86_400_000
/**
 * Maximum number of unpaid addresses of one account: in total for a list, whose addresses run out, and within a day for an
 * xpub.
 */
const MAX_UNPAID_ADDRESSES = 10
/** Maximum number of unpaid addresses of one xpub for one client in a day. Each is searched for transfers for ever. */
const MAX_UNPAID_ADDRESSES_OF_CLIENT = 200
/** The part of a list that one client can get in 30 days, but at least 10 addresses. */
const CLIENT_PART = 1 / 4
const CLIENT_LEAST = 10
/** How long the client of an address that is not paid is stored, in ms (30 days). */
export const CLIENT_RETENTION_MS = 30 * DAY_MS
/**
 * How many indexes in a row are skipped at most because their addresses are used already, for example by a list that the xpub
 * replaces.
 */
const MAX_SKIPPED = 1000

/** Increments the next index of a source. The row lock makes simultaneous calls wait for each other. */
const NEXT = `insert into gw_deposit_sources as s (id, next_index) values ($1, 1)
  on conflict (id) do update set next_index = s.next_index + 1 returning next_index`

/** Creates the allocator for the configured receivers. Throws a `TypeError` for an invalid xpub. */
export function addressAllocator(receivers: readonly PayinReceiver[]): AddressAllocator {
  const branches = new Map(receivers.flatMap(({ xpub }) => (xpub ? [[xpub, branchOfXpub(xpub)]] : [])))
  const inUse = new Set(receivers.flatMap(({ receiver, token }) => [receiver, token]))

  /** Returns a free address of the receiver's list. The row of the source is locked, so that no other call chooses. */
  async function listed(
    tx: SqlQueries,
    { chainId, token }: PayinReceiver,
    { clientBucket, now }: AddressRequest,
  ): Promise<string | undefined> {
    const text = `update gw_deposit_addresses set client_class = $1, given_at = $2 where chain_id = $3 and address = (
        select address from gw_deposit_addresses
        where chain_id = $3 and token = $4 and payin_id is null and xpub is null
        order by address limit 1) and payin_id is null
      returning address`
    const [row] = await rows(tx, text, [clientBucket, now, chainId, token])
    return row && toText(row['address'])
  }

  /** Returns the address of the first index, from `first` on, whose address was never used. */
  async function derived(
    tx: SqlQueries,
    { branch, first }: { readonly branch: AddressBranch; readonly first: number },
    { chainId, token }: PayinReceiver,
    { clientBucket, now }: AddressRequest,
  ): Promise<string> {
    const text = `insert into gw_deposit_addresses (chain_id, address, token, xpub, xpub_index, client_class, given_at)
      select cast($1 as bigint), $2, $3, $4, cast($5 as bigint), $6, cast($7 as bigint)
      where not exists (select 1 from gw_deposit_addresses where address = $2)
      on conflict do nothing returning address`
    for (let index = first, skipped = 0; skipped < MAX_SKIPPED; skipped += 1) {
      const address = branch.addressAt(index)
      const values = [chainId, address, token, branch.id, index, clientBucket, now]
      if (!inUse.has(address) && (await rows(tx, text, values)).length > 0) return address
      index = await nextIndex(tx, branch.id)
    }
    throw new Error(
      `${MAX_SKIPPED} addresses of an xpub in a row are in use: is the wallet used for something else?`,
    )
  }

  return {
    async allocate(tx, receiver, request) {
      const { xpub, chainId, token } = receiver
      const branch = xpub === undefined ? undefined : branches.get(xpub)
      // Incremented first: until this transaction ends, no other can change the numbers that the limits count.
      const index = await nextIndex(tx, branch?.id ?? `${chainId} ${token}`)
      const denial = await overBudget(tx, receiver, request)
      if (denial) return denial
      return allow(
        branch
          ? await derived(tx, { branch, first: index }, receiver, request)
          : await listed(tx, receiver, request),
      )
    },
  }
}

async function nextIndex(tx: SqlQueries, source: string): Promise<number> {
  const [row] = await rows(tx, NEXT, [source])
  return toInteger(row?.['next_index']) - 1
}

/** Denies if the account or the client has too many unpaid addresses. */
async function overBudget(
  tx: SqlQueries,
  { chainId, token, xpub, depositAddresses }: PayinReceiver,
  { accountId, clientBucket, now }: AddressRequest,
): Promise<HostDenial | undefined> {
  const ofAccount = `select count(*) as given from (select 1 from gw_payins
    where account_id = $1 and own_receiver = 1 and status <> 'settled' and created_at > $2 limit $3) as some_payins`
  const since = xpub === undefined ? 0 : now - DAY_MS
  if ((await count(tx, ofAccount, [accountId, since, MAX_UNPAID_ADDRESSES])) >= MAX_UNPAID_ADDRESSES) {
    return blocked('this account', 'max_unpaid_addresses')
  }
  const ofClient = `select count(*) as given from (select 1 from gw_deposit_addresses
    where client_class = $1 and chain_id = $2 and token = $3 and given_at > $4
    limit $5) as some_addresses`
  const most =
    xpub === undefined
      ? Math.max(CLIENT_LEAST, Math.floor(depositAddresses.length * CLIENT_PART))
      : MAX_UNPAID_ADDRESSES_OF_CLIENT
  const from = now - (xpub === undefined ? CLIENT_RETENTION_MS : DAY_MS)
  if ((await count(tx, ofClient, [clientBucket, chainId, token, from, most])) >= most) {
    return blocked("this client's address", 'max_unpaid_addresses_of_client')
  }
  return undefined
}

async function count(tx: SqlQueries, text: string, values: (string | number)[]): Promise<number> {
  const [row] = await rows(tx, text, values)
  return toInteger(row?.['given'])
}

function blocked(whose: string, rule: ProductRule): HostDenial {
  const message = `too many deposit addresses of ${whose} were never paid to: pay from the wallet`
  return deny('policy_blocked', message, { details: { rule } })
}
