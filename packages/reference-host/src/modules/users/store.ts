import { newId } from '@gatewright/host'
import { allow, malformedReply, type Verdict, type EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { type Row, instant, named, nullable, table, text } from '@gatewright/host/tables'
import type { HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'

/** The users: wallet users, and users of partners, who have the partners' own ids. The two kinds never share an account. */
export const userTable = table('gw_users', {
  id: text,
  accountId: text,
  /** The partner's id for the user; null for a wallet user. */
  externalId: nullable(text),
  /** The verified wallet: an address, or `eip155:<chain>:<address>` of a contract. Null for a partner's user. */
  wallet: named('principal', nullable(text)),
  walletAddress: nullable(text),
  walletLabel: nullable(text),
  /** The personal data of the user, encrypted; null until the user has given some. See `openProfile`. */
  sealedProfile: named('profile', nullable(text)),
  kycStatus: text,
  /** When an operator froze the account; null: it is not frozen. */
  frozenAt: nullable(instant),
  createdAt: instant,
})
export type User = Row<typeof userTable>

/** The user that a partner names. */
interface PartnerUserRequest {
  readonly partnerId: string
  readonly externalId: string
  readonly walletAddress?: string | undefined
  readonly label?: string | undefined
}

/** The host's user records. */
export interface UserStore {
  /** Finds or creates the user of a verified wallet. Simultaneous calls for one wallet get the same user. */
  findOrCreateByWallet(
    verified: { wallet: string; walletAddress: string; label?: string | undefined },
    now: EpochMs,
  ): Promise<User>
  /**
   * Finds or creates a partner's user; on creation `onCreate` runs in the same transaction. Stores the wallet
   * address if the user has none. Denial: `invalid_state` when the user has another wallet address.
   */
  resolve(
    request: PartnerUserRequest,
    now: EpochMs,
    onCreate: (tx: SqlQueries, user: User) => Promise<void>,
  ): Promise<Verdict<User, HostDenial>>
  /**
   * Finds a user that was resolved before, and stores the wallet address as `resolve` does. Denials:
   * `not_found`, `invalid_state`.
   */
  findResolved(request: PartnerUserRequest): Promise<Verdict<User, HostDenial>>
  /**
   * Returns the verified wallet from which an account can pay on a chain. A contract wallet belongs to its owner on its own
   * chain only, and a wallet address that a partner sent proves nothing. An address with code that has signed both as a key and
   * as a contract (EIP-7702) can belong to two accounts; it then identifies neither.
   */
  payingWallet(tx: SqlQueries, accountId: string, chainId: number): Promise<string | undefined>
  /**
   * Returns the account with this verified wallet on a chain. If two accounts share the address, returns the one that signed
   * with the key.
   */
  accountOfWallet(chainId: number, address: string): Promise<string | undefined>
  /** Returns the user of an account. Fault `ERR_STORE_REPLY` if the account has no user: every session has a user. */
  ofAccount(db: SqlQueries, accountId: string): Promise<User>
  setProfile(tx: SqlQueries, accountId: string, sealed: string): Promise<User>
  setWalletLabel(tx: SqlQueries, accountId: string, label: string | null): Promise<User>
}

const INSERT = `insert into gw_users
  (id, account_id, partner_id, external_id, principal, wallet_address, wallet_label, kyc_status, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, 'not_submitted', $8)`
const OF_WALLET = 'select account_id from gw_wallets where wallet = $1'
const ADD_WALLET = `insert into gw_wallets (wallet, address, account_id) values ($1, $2, $3)
  on conflict (wallet) do nothing returning account_id`
const OF_PARTNER_USER = 'select account_id from gw_partner_users where partner_id = $1 and external_id = $2'
const ADD_PARTNER_USER = `insert into gw_partner_users (partner_id, external_id, account_id) values ($1, $2, $3)
  on conflict (partner_id, external_id) do nothing returning account_id`
const OF_ACCOUNT = 'select * from gw_users where account_id = $1'

/** Makes the ids of a new user and its account, with the same digits: see `accountOfUser`. */
function newUserIds(): { readonly id: string; readonly accountId: string } {
  const accountId = newId('acc')
  return { accountId, id: accountId.replace(/^acc_/, 'usr_') }
}

/** Creates the user store over SQL. */
export function userStore(db: SqlClient): UserStore {
  /** Stores the wallet address of a user who has none, atomically with the check. Denies a different address. */
  const withWallet = async (
    tx: SqlQueries,
    user: User,
    { walletAddress }: PartnerUserRequest,
  ): Promise<Verdict<User, HostDenial>> => {
    if (walletAddress === undefined || walletAddress === user.walletAddress) return allow(user)
    const [updated] = await rows(
      tx,
      `update gw_users set wallet_address = $1
        where account_id = $2 and (wallet_address is null or wallet_address = $1) returning *`,
      [walletAddress, user.accountId],
    )
    if (updated) return allow(userTable.read(updated))
    const message = 'the user has another walletAddress: resolve without it, or use another userId'
    return deny('invalid_state', message, { field: 'walletAddress' })
  }

  return {
    async findOrCreateByWallet({ wallet, walletAddress, label }, now) {
      const known = await findBy(db, OF_WALLET, [wallet])
      if (known) return known
      return db.transaction(async tx => {
        const { id, accountId } = newUserIds()
        // Waits for another transaction that adds the wallet, and then finds its user.
        const added = await rows(tx, ADD_WALLET, [wallet, walletAddress, accountId])
        if (added.length === 0) return (await findBy(tx, OF_WALLET, [wallet])) as User
        const values = [id, accountId, null, null, wallet, walletAddress, label ?? null, now]
        return one(tx, `${INSERT} returning *`, values)
      })
    },
    resolve: (request, now, onCreate) =>
      db.transaction(async tx => {
        const { partnerId, externalId, walletAddress = null, label = null } = request
        const { id, accountId } = newUserIds()
        const added = await rows(tx, ADD_PARTNER_USER, [partnerId, externalId, accountId])
        if (added.length === 0) {
          const found = await findBy(tx, OF_PARTNER_USER, [partnerId, externalId])
          return withWallet(tx, found as User, request)
        }
        const values = [id, accountId, partnerId, externalId, null, walletAddress, label, now]
        const created = await one(tx, `${INSERT} returning *`, values)
        await onCreate(tx, created)
        return allow(created)
      }),
    findResolved: request =>
      db.transaction(async tx => {
        const found = await findBy(tx, OF_PARTNER_USER, [request.partnerId, request.externalId])
        if (found) return withWallet(tx, found, request)
        return deny('not_found', 'no such user: resolve it first', { field: 'userId' })
      }),
    async payingWallet(tx, accountId, chainId) {
      const [row] = await rows(tx, 'select principal from gw_users where account_id = $1', [accountId])
      if (!row || row['principal'] === null) return undefined
      const wallet = toText(row['principal'])
      const [, chain, contract] = /^eip155:(\d+):(0x[0-9a-f]{40})$/.exec(wallet) ?? []
      if (contract !== undefined && Number(chain) !== chainId) return undefined
      const address = contract ?? wallet
      const other = contract === undefined ? `eip155:${chainId}:${address}` : address
      const shared = await rows(tx, OF_WALLET, [other])
      return shared.length > 0 ? undefined : address
    },
    async accountOfWallet(chainId, address) {
      const text = 'select account_id from gw_wallets where wallet in ($1, $2) order by wallet limit 1'
      const [row] = await rows(db, text, [address, `eip155:${chainId}:${address}`])
      return row && toText(row['account_id'])
    },
    ofAccount: (db, accountId) => one(db, OF_ACCOUNT, [accountId]),
    setProfile: (tx, accountId, sealed) =>
      one(tx, `${SET} profile = $2 where account_id = $1 returning *`, [accountId, sealed]),
    setWalletLabel: (tx, accountId, label) =>
      one(tx, `${SET} wallet_label = $2 where account_id = $1 returning *`, [accountId, label]),
  }
}

const SET = 'update gw_users set'

/** Finds the user of the account that a look-up returns. */
async function findBy(db: SqlQueries, lookup: string, values: readonly string[]): Promise<User | undefined> {
  const [row] = await rows(db, lookup, values)
  return row && one(db, OF_ACCOUNT, [toText(row['account_id'])])
}

async function one(db: SqlQueries, text: string, values: readonly (string | number | null)[]): Promise<User> {
  const [row] = await rows(db, text, values)
  if (!row) throw malformedReply('database', 'the user of an account')
  return userTable.read(row)
}
