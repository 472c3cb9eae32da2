import type { HostServices } from '@gatewright/host'
import { type Command, CommandError } from '@gatewright/host/cli'
import { ACCOUNT_HELP, userAccountOf } from '../find-account.ts'
import { freezeAccount, unfreezeAccount } from './freeze.ts'

type FreezeServices = Pick<HostServices, 'backend' | 'clock'>

/** Stops everything that leaves an account. */
export const freezeCommand: Command<FreezeServices> = {
  name: 'accounts freeze',
  takes: ['ACCOUNT'],
  summary: `Let nothing leave an account until it is unfrozen. ${ACCOUNT_HELP}`,
  example: 'acc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52',
  confirm:
    'Its payments, withdrawals, bills and card payments are denied, and it makes no keys and cards. Money still arrives.',
  async run({ backend: { sql: db }, clock }, { positional: [owner = ''] }) {
    const accountId = await userAccountOf(db, owner)
    const changed = await freezeAccount(db, accountId, { now: clock.now() })
    return {
      data: { accountId, frozen: true },
      lines: [`${accountId} ${changed ? 'is' : 'was already'} frozen.`],
    }
  },
}

/** Ends the freeze of an account. */
export const unfreezeCommand: Command<FreezeServices> = {
  name: 'accounts unfreeze',
  takes: ['ACCOUNT'],
  summary: `Let a frozen account pay again. ${ACCOUNT_HELP}`,
  example: 'acc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52',
  confirm: 'Whoever has its keys can pay again: revoke or pause the leaked ones first.',
  async run({ backend: { sql: db }, clock }, { positional: [owner = ''] }) {
    const accountId = await userAccountOf(db, owner)
    if (!(await unfreezeAccount(db, accountId, { now: clock.now() })))
      throw new CommandError(`${accountId} is not frozen`)
    return { data: { accountId, frozen: false }, lines: [`${accountId} may pay again.`] }
  },
}
