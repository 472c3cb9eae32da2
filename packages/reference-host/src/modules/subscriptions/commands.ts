import type { HostServices } from '@gatewright/host'
import { listCommand, type Command, CommandError, type CommandArguments } from '@gatewright/host/cli'
import { MAX_LISTED, integerArgument, isoOrNull, money } from '@gatewright/host/internal'
import type { Config } from '../../config/config.ts'
import { receivingXpubs, skipAddresses } from './onchain/skip-addresses.ts'
import { listUnmatched, markHandled } from './onchain/unmatched-transfer-store.ts'
import { payins } from './payins/payin-store.ts'
import type { PayinSettlement } from './payins/settlement.ts'
import { isOpen } from './payins/states.ts'

/** What the commands work with. */
interface PayinCommandServices extends Pick<HostServices, 'backend' | 'clock' | 'progress'> {
  readonly config: Pick<Config, 'payinReceivers'>
  readonly settlement: PayinSettlement
}

/** How many addresses one command skips at most: each is searched for unmatched transfers for ever. */
const MAX_SKIPPED = 100_000

/** Commands on pay-ins and on payments that match none. */
export const commands: readonly Command<PayinCommandServices>[] = [
  {
    name: 'payins cancel',
    takes: ['PAYIN_ID'],
    summary: 'Cancel an open pay-in and release its hold',
    example: 'payin_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52',
    confirm: 'A payment that arrives later settles nothing.',
    async subject({ backend }, { positional: [id = ''] }) {
      const accountId = await payins.accountOfOpen(backend.sql, id)
      if (accountId === undefined)
        throw new CommandError(`no pay-in ${id} is open: it has ended, or never existed`)
      const payin = await payins.find(backend.sql, accountId, id)
      return `Cancel ${id}${payin ? `, ${money(payin.amountCents)}` : ''} of ${accountId}.`
    },
    async run({ backend, clock, settlement }, { positional: [id = ''] }) {
      const status = await backend.sql.transaction(async tx => {
        const accountId = await payins.accountOfOpen(tx, id)
        const payin = accountId === undefined ? undefined : await payins.lock(tx, accountId, id)
        if (!payin || !isOpen(payin.status))
          throw new CommandError(`no pay-in ${id} is open: it has ended, or never existed`)
        if (payin.seen)
          throw new CommandError(
            `${id} has a confirming payment (${payin.seen.txHash}): wait until it settles`,
          )
        return (await settlement.close(tx, payin, 'canceled', clock.now())).status
      })
      return { data: { id, status }, lines: [`${id} is ${status}.`] }
    },
  },
  listCommand({
    name: 'payins unmatched',
    takes: [],
    summary: 'List final transfers to addresses of the host that match no pay-in, newest first',
    example: '',
    rows: ({ backend }) => listUnmatched(backend.sql, MAX_LISTED),
    columns: {
      MINED: { value: ({ minedAt }) => isoOrNull(minedAt), kind: 'instant' },
      REASON: 'reason',
      UNITS: 'units',
      ASSET: ({ chainId, token }, { config }) =>
        config.payinReceivers.find(each => each.chainId === chainId && each.token === token)?.asset ?? token,
      FROM: { value: 'sender', kind: 'id' },
      ACCOUNT: 'accountId',
      'PAY-IN': 'payinId',
      REFERENCE: { value: 'reference', kind: 'id' },
    },
    empty: 'No unmatched transfers.',
  }),
  {
    name: 'payins handled',
    takes: ['REFERENCE'],
    summary: 'Mark an unmatched transfer as handled, after it was credited or sent back',
    example: '8453:0x5be1…:12',
    async run({ backend, clock }, { positional: [reference = ''] }) {
      if (!(await markHandled(backend.sql, reference, clock.now()))) {
        throw new CommandError(
          `no unmatched transfer ${reference} is open: see npx gatewright payins unmatched`,
        )
      }
      return { data: { reference, handled: true }, lines: [`${reference} is handled.`] }
    },
  },
  {
    name: 'payins skip-addresses',
    takes: ['COUNT'],
    summary: 'Skip the next COUNT addresses of each xpub, after a backup was restored',
    example: '1000',
    confirm: 'A wallet finds payments to later addresses only with a gap limit above COUNT.',
    check: countOf,
    async run({ backend, config, progress }, args) {
      const count = countOf(args)
      const xpubs = receivingXpubs(config.payinReceivers)
      if (xpubs.length === 0)
        throw new CommandError('PAYIN_RECEIVERS names no xpub: there is nothing to skip')
      const data = []
      for (const each of xpubs) {
        const { id } = each.branch
        const note = (skipped: number): void => progress(`xpub ${id}: ${skipped} addresses skipped`)
        data.push({ xpub: id, nextIndex: await skipAddresses(backend.sql, each, count, note) })
      }
      return {
        data,
        lines: data.map(({ xpub, nextIndex }) => `xpub ${xpub}: the next index is ${nextIndex}.`),
      }
    },
  },
]

function countOf({ positional: [text = ''] }: CommandArguments): number {
  return integerArgument('COUNT', text, 1, MAX_SKIPPED)
}
