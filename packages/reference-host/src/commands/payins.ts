import { type Command, UsageError, integerArgument } from '@gatewright/host/cli'
import { listUnmatched, markHandled } from '../modules/subscriptions/onchain/unmatched-transfer-store.ts'
import { receivingXpubs, skipAddresses } from '../modules/subscriptions/onchain/skip-addresses.ts'
import type { Services } from '../services/services.ts'

/** How many transfers `payins unmatched` prints at most. */
const MOST = 1000
/** How many addresses one command skips at most: each is searched for unmatched transfers for ever. */
const MAX_SKIPPED = 100_000

/** Commands on pay-ins and on payments that match none. */
export const payinCommands: readonly Command<Services>[] = [
  {
    name: 'payins unmatched',
    takes: [],
    summary: 'List final transfers to addresses of the host that match no pay-in, newest first',
    example: '',
    async run({ backend, config }) {
      const { payinReceivers } = config
      const data = await listUnmatched(backend.sql, MOST)
      const assetOf = (chainId: number, address: string): string =>
        payinReceivers.find(each => each.chainId === chainId && each.token === address)?.asset ?? address
      const rows = data.map(({ reference, reason, chainId, token: address, units, sender, ...more }) => [
        new Date(more.minedAt).toISOString(),
        reason,
        units,
        assetOf(chainId, address),
        sender,
        more.accountId ?? '-',
        more.payinId ?? '-',
        reference,
      ])
      const head = ['MINED', 'REASON', 'UNITS', 'ASSET', 'FROM', 'ACCOUNT', 'PAY-IN', 'REFERENCE']
      return { data, table: [head, ...rows], empty: 'No unmatched transfers.' }
    },
  },
  {
    name: 'payins handled',
    takes: ['REFERENCE'],
    summary: 'Mark an unmatched transfer as handled, after it was credited or sent back',
    example: '8453:0x5be1…:12',
    async run({ backend, clock }, { positional: [reference = ''] }) {
      if (!(await markHandled(backend.sql, reference, clock.now()))) {
        throw new UsageError(`no unmatched transfer ${reference} is open: see gatewright payins unmatched`)
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
    async run({ backend, config, progress }, { positional: [text = ''] }) {
      const count = integerArgument('COUNT', text, 1, MAX_SKIPPED)
      const xpubs = receivingXpubs(config.payinReceivers)
      if (xpubs.length === 0) throw new UsageError('PAYIN_RECEIVERS names no xpub: there is nothing to skip')
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
