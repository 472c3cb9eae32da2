import { rows } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { HostServices } from '@gatewright/host'
import {
  listCommand,
  type Command,
  CommandError,
  UsageError,
  type CommandArguments,
} from '@gatewright/host/cli'
import { MAX_LISTED, isoOrNull } from '@gatewright/host/internal'
import { userAccountOf } from '../find-account.ts'
import { SUBMIT_JOB } from './job.ts'
import type { KycRecords } from './records.ts'
import { DECIDED_STATUSES } from './states.ts'

/** What the commands work with. */
interface KycCommandServices extends Pick<HostServices, 'backend' | 'clock' | 'jobs'> {
  readonly kyc: KycRecords
}

const LIST = `select a.id, a.account_id, u.kyc_status, a.submitted_at
  from gw_kyc_applications a join gw_users u on u.account_id = a.account_id
  where u.kyc_status <> 'approved' order by a.submitted_at desc limit $1`

/** Commands on identity checks. They show no application data. */
export const commands: readonly Command<KycCommandServices>[] = [
  listCommand({
    name: 'kyc list',
    takes: [],
    summary: 'List applications that are not approved, newest first',
    example: '',
    async rows({ backend }) {
      return (await rows(backend.sql, LIST, [MAX_LISTED])).map(row => ({
        id: toText(row['id']),
        accountId: toText(row['account_id']),
        status: toText(row['kyc_status']),
        submittedAt: isoOrNull(toInteger(row['submitted_at'])),
      }))
    },
    columns: { SUBMITTED: 'submittedAt', STATUS: 'status', ACCOUNT: 'accountId', APPLICATION: 'id' },
    dropFirst: ['APPLICATION'],
    empty: 'No open applications.',
  }),
  {
    name: 'kyc decide',
    takes: ['ACCOUNT', 'STATUS'],
    options: { reason: 'the reason that the person reads' },
    summary: `Set the identity check of an account to a STATUS: ${DECIDED_STATUSES.join(', ')}`,
    example: 'acc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52 approved --reason "Checked by hand"',
    confirm: 'The account gains or loses the right to create cards and to move money.',
    check: decisionOf,
    async subject({ backend }, args) {
      const { owner, status } = decisionOf(args)
      const accountId = await userAccountOf(backend.sql, owner)
      const [user] = await rows(backend.sql, 'select kyc_status from gw_users where account_id = $1', [
        accountId,
      ])
      return `Set the identity check of ${accountId} to ${status}. It is ${toText(user?.['kyc_status'])} now.`
    },
    async run({ backend, kyc, jobs, clock }, args) {
      const { owner, status, reason } = decisionOf(args)
      const accountId = await userAccountOf(backend.sql, owner)
      await backend.sql.transaction(async tx => {
        const now = clock.now()
        const id = await kyc.decide(tx, accountId, { status, reason, cause: 'operator' }, now)
        if (status !== 'pending') return
        if (!(await kyc.waiting(tx, id)))
          throw new CommandError(
            `${accountId} has no application data that a provider could check: decide approved or denied instead`,
          )
        await jobs.add(tx, { kind: SUBMIT_JOB, accountId, subjectId: id }, now)
      })
      return { data: { accountId, status, reason }, lines: [`${accountId} is ${status}.`] }
    },
  },
]

function decisionOf({ positional: [owner = '', word = ''], options }: CommandArguments) {
  const status = DECIDED_STATUSES.find(each => each === word)
  if (!status)
    throw new UsageError(`STATUS must be one of ${DECIDED_STATUSES.join(', ')}, got ${JSON.stringify(word)}`)
  const reason = options['reason'] ?? null
  if (reason !== null && (reason === '' || [...reason].length > 200))
    throw new UsageError('--reason must be 1 to 200 characters')
  return { owner, status, reason }
}
