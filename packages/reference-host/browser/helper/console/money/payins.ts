import { shortened } from '../../../shared/address.ts'
import type { Reply } from '../../../shared/api.ts'
import { button, el, type Child } from '../../../shared/dom.ts'
import { readHost } from '../../../shared/host.ts'
import { announce } from '../../../shared/live.ts'
import { money } from '../../../shared/money.ts'
import { utc, when } from '../../../shared/time.ts'
import { keyName, readAllKeys } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { exportButton } from './export.ts'
import { copiedId, factList, timeLine } from './money-drawer.ts'
import { moneyList } from './money-list.ts'
import { fillCells, makeCells } from './money-row.ts'
import type { ConsolePage } from '../page.ts'
import { addressOf } from '../route.ts'
import { withSignedKey } from '../signed-key.ts'
import { load, problemNote, unlessUnknown } from '../states.ts'
import { pagedFeed, pageReader } from '../transaction-feed.ts'
import type { Payin, PayinDetail } from '../wire.ts'

const STATUSES: Readonly<Record<Payin['status'], readonly [tone: string, word: string]>> = {
  awaiting_payment: ['warn', 'Awaiting payment'],
  confirming: ['warn', 'Confirming'],
  settled: ['ok', 'Settled'],
  expired: ['', 'Expired'],
  failed: ['bad', 'Failed'],
  canceled: ['', 'Canceled'],
}

const FILTERS = ['q', 'keyId', 'from', 'to', 'status']

const purposeOf = ({ plan }: Payin): string => (plan === null ? 'Into the balance' : `Plan ${plan}`)
/** The second line of a pay-in: into what it goes if its first line says what it is for, and where it can be paid. */
const secondLine = (payin: Payin): string => {
  const to = isOpen(payin) && payin.payTo ? `to ${shortened(payin.payTo.address)}` : ''
  return [payin.description === null ? '' : purposeOf(payin), to].filter(Boolean).join(' · ')
}
const isOpen = ({ status }: Payin): boolean => status === 'awaiting_payment' || status === 'confirming'
const methodOf = ({ method, payTo }: Payin): string =>
  method === 'balance' ? 'Balance' : (payTo?.asset ?? 'On a chain')

/** The page of the account's pay-ins, newest first. */
export const payinsPage: ConsolePage = {
  id: 'payins',
  title: 'Pay-ins',
  icon: 'payins',
  about:
    'Payments that your programs asked for. An open one reserves its amount under the limits of its key.',
  actions: context => [
    exportButton(context, '/subscriptions/payins.csv', FILTERS),
    button('Refresh', context.refresh, 'small'),
  ],
  render: context =>
    moneyList<Payin>(context, {
      what: 'pay-ins',
      one: 'pay-in',
      columns: ['Amount', 'Status', 'For', 'Method', 'Date'],
      choices: { status: ['Status', Object.entries(STATUSES).map(([value, [, word]]) => [value, word])] },
      feed: query =>
        pagedFeed(pageReader<Payin>(context.call, { path: '/subscriptions/payins', name: 'payins', query })),
      make: makeCells,
      fill: (row, payin) =>
        fillCells(row, {
          href: addressOf('payins', { row: payin.id }),
          amount: money(payin.amountCents),
          status: STATUSES[payin.status],
          name: payin.description ?? purposeOf(payin),
          second: secondLine(payin),
          method: methodOf(payin),
          at: payin.createdAt,
          isVoid: !isOpen(payin) && payin.status !== 'settled',
        }),
      empty: ['No pay-ins yet.', 'A program with the scope subscriptions.write can ask for one.'],
    }),
  drawer(context, id) {
    const body = el('div', { class: 'lines' })
    void load<Detail>(body, {
      what: 'this pay-in',
      read: () => readDetail(context, id),
      show: detail => drawerOf(context, detail),
    })
    return { title: 'Pay-in', body: [body] }
  },
}

interface Detail {
  readonly payin: PayinDetail
  /** The name of the key that asked for it, if the account still has it. */
  readonly key: string | undefined
}

async function readDetail(context: ConsoleContext, id: string): Promise<Reply<Detail>> {
  const [reply, keys] = await Promise.all([
    context.call<{ payin: PayinDetail }>(`/subscriptions/payins/${encodeURIComponent(id)}`),
    readAllKeys(context),
  ])
  if (!reply.ok) return reply
  const { payin } = reply.data
  const key = keys.ok ? keys.data.find(each => each.id === payin.keyId) : undefined
  return { ok: true, data: { payin, key: key && keyName(key) } }
}

function drawerOf(context: ConsoleContext, { payin, key }: Detail): Child[] {
  const { id, status, amountCents, keyId, payTo, txHash, expiresAt, subscriptionId, history } = payin
  const [tone, word] = STATUSES[status]
  return [
    el(
      'p',
      { class: 'money-sum' },
      el('span', {}, `${money(amountCents)} USD`),
      el('span', { class: `badge ${tone}`.trim() }, word),
    ),
    factList([
      ['For', payin.description],
      [payin.plan === null ? 'Pays' : 'Buys', purposeOf(payin)],
      ['Method', methodOf(payin)],
      ['Pay to', payTo ? copiedId('address', payTo.address) : null],
      ['Can be paid until', isOpen(payin) && el('span', {}, when(expiresAt), ` · ${utc(expiresAt)}`)],
      ['Key', keyId && el('a', { href: addressOf('keys', { row: keyId }) }, key ?? keyId)],
    ]),
    isOpen(payin) && readHost().environment === 'sandbox' && settleForm(context, payin),
    ...propertyList(payin.properties),
    el('h3', {}, 'Timeline'),
    timeLine(history),
    el('h3', {}, 'Ids'),
    factList([
      ['Pay-in', copiedId('pay-in id', id)],
      ['Subscription', copiedId('subscription id', subscriptionId)],
      ['Transaction on the chain', copiedId('transaction hash', txHash)],
      ['Key', copiedId('key id', keyId)],
    ]),
  ]
}

/** The members that a program sent with the pay-in and the host does not use, as they came. */
function propertyList(properties: PayinDetail['properties']): Child[] {
  const entries = Object.entries(properties)
  if (entries.length === 0) return []
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return [
    el('h3', {}, 'Properties'),
    factList(entries.map(([name, value]) => [name, el('span', { class: 'wrap' }, textOf(value))] as const)),
  ]
}

/** Makes the button that pays an open pay-in with play money. The wallet signs, because a console moves no money. */
function settleForm(context: ConsoleContext, { id }: PayinDetail): HTMLElement {
  const settle = (): Promise<unknown> =>
    withSignedKey(
      context,
      ['subscriptions.write'],
      callWithKey => callWithKey(`/sandbox/payins/${encodeURIComponent(id)}/settle`, {}),
      reply => {
        context.transactions.clear()
        if (reply.ok) return announce('The pay-in is settled.')
        document
          .querySelector('.drawer-body')
          ?.prepend(problemNote(unlessUnknown('The pay-in was not settled.', reply.problem), reply.problem))
      },
    )
  return el(
    'div',
    { class: 'lines' },
    el('div', { class: 'buttons' }, button('Settle with play money', settle, 'primary small')),
    el('p', { class: 'muted small' }, 'Sandbox: as if the payment had arrived on its chain.'),
  )
}
