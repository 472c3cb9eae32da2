import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Sealer } from '@gatewright/host/internal'
import { lockAccount } from './lock-account.ts'
import type { User, UserStore } from './store.ts'

/** The personal data of a user, stored in one encrypted column. */
interface Profile {
  readonly displayName: string | null
  readonly email: string | null
}

const PURPOSE = 'profile'
const EMPTY: Profile = { displayName: null, email: null }

/** Decrypts the profile of a user. Faults: those of `Sealer.open`. */
export function openProfile(sealer: Sealer, { accountId, sealedProfile }: User): Profile {
  if (sealedProfile === null) return EMPTY
  return JSON.parse(sealer.open(PURPOSE, accountId, sealedProfile)) as Profile
}

/** Changes the given members of a profile. Locks the user, so that of two simultaneous changes none is lost. */
export async function changeProfile(
  tx: SqlQueries,
  { users, sealer }: { readonly users: UserStore; readonly sealer: Sealer },
  accountId: string,
  change: Partial<Profile>,
): Promise<User> {
  const before = openProfile(sealer, await lockAccount(tx, accountId))
  const after: Profile = { ...before, ...change }
  return users.setProfile(tx, accountId, sealer.seal(PURPOSE, accountId, JSON.stringify(after)))
}
