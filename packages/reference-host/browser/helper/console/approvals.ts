import type { Reply } from '../../shared/api.ts'
import { ask } from '../../shared/dialog.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { money } from '../../shared/money.ts'
import { kindTitle } from '../../shared/operations.ts'
import { when } from '../../shared/time.ts'
import { keyName, readAllKeys } from './all-keys.ts'
import type { ConsoleContext } from './context.ts'
import { listRow } from './list-row.ts'
import type { ConsolePage } from './page.ts'
import { addressOf } from './route.ts'
import { empty, load, problemNote, unlessUnknown } from './states.ts'
import type { Approval, Key } from './wire.ts'

/** The page of the payments that wait for the owner of the account, oldest first. */
export const approvalsPage: ConsolePage = {
  id: 'approvals',
  title: 'Approvals',
  icon: 'approvals',
  about:
    'A key with the limit "asks you above" waits here before it pays more. Each approval is for one payment.',
  actions: context => [button('Refresh', context.refresh, 'small')],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const reload = (): Promise<void> =>
      load<Found>(body, {
        what: 'your approvals',
        read: () => readApprovals(context),
        show: found => render(context, found, reload),
      })
    void reload()
    return [body]
  },
}

/** The open approvals, and the keys of the account. */
interface Found {
  readonly approvals: readonly Approval[]
  readonly keys: readonly Key[]
}

async function readApprovals(context: ConsoleContext): Promise<Reply<Found>> {
  const [open, keys] = await Promise.all([
    context.call<Pick<Found, 'approvals'>>('/approvals'),
    readAllKeys(context),
  ])
  if (!open.ok) return open
  return keys.ok ? { ok: true, data: { approvals: open.data.approvals, keys: keys.data } } : keys
}

function render(context: ConsoleContext, { approvals, keys }: Found, reload: () => Promise<void>): Child[] {
  if (approvals.length === 0)
    return [empty('Nothing waits for you.', 'Payments that a key may not make without you appear here.')]
  return [el('ul', { class: 'rows' }, ...approvals.map(each => row(context, each, keys, reload)))]
}

function row(
  context: ConsoleContext,
  approval: Approval,
  keys: readonly Key[],
  reload: () => Promise<void>,
): HTMLElement {
  const { keyId, state, requestedAt, expiresAt } = approval
  const key = keys.find(({ id }) => id === keyId)
  const problemBox = el('div')
  const isPending = state === 'pending'
  const decide = (decision: Decision) => () => decideOn(context, approval, decision, problemBox, reload)
  return listRow({
    name: [
      el('span', {}, titleOf(approval)),
      !isPending && el('span', { class: 'badge ok' }, 'Approved, not paid yet'),
    ],
    below: [
      el('p', { class: 'small breaks' }, payeeOf(approval)),
      el(
        'p',
        { class: 'muted small' },
        'Asked by key ',
        el('a', { href: addressOf('keys', { row: keyId }) }, key ? keyName(key) : `…${keyId.slice(-6)}`),
        ' ',
        when(requestedAt),
        ' · Until ',
        when(expiresAt),
      ),
      problemBox,
    ],
    end:
      isPending &&
      el(
        'div',
        { class: 'row-actions' },
        button('Approve', decide('approve'), 'small'),
        button('Deny', decide('deny'), 'danger small'),
      ),
  })
}

type Decision = 'approve' | 'deny'

/** Says what is asked, such as "Payment of 60.00 USD". */
const titleOf = ({ operation, amountCents, currency }: Approval): string =>
  `${kindTitle(operation) ?? operation} of ${money(amountCents)} ${currency}`

/** Names the payee by every name that it has, such as "To account acc_5Qz, wallet 0x…". */
const payeeOf = ({ payee }: Approval): string =>
  payee.length === 0 ? 'To no named payee' : `To ${payee.map(name => name.replace(':', ' ')).join(', ')}`

/** Asks, and sends the decision. The same decision twice is one. */
async function decideOn(
  context: ConsoleContext,
  approval: Approval,
  decision: Decision,
  problemBox: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  const isApproval = decision === 'approve'
  const yes = await ask({
    title: `${isApproval ? 'Approve' : 'Deny'}: ${titleOf(approval)}?`,
    body: [
      el('p', { class: 'breaks' }, payeeOf(approval)),
      el(
        'p',
        {},
        isApproval
          ? 'The program can make this payment once, within its limits, when it asks again.'
          : 'The program is told that you denied it.',
      ),
    ],
    confirm: isApproval ? 'Approve payment' : 'Deny payment',
    danger: !isApproval,
  })
  if (!yes) return undefined
  const send = async (): Promise<void> => {
    const path = `/approvals/${encodeURIComponent(approval.id)}/${decision}`
    const reply = await context.call(path, { method: 'POST', body: {} })
    const refused = `The payment was not ${isApproval ? 'approved' : 'denied'}. Refresh to see what waits.`
    if (!reply.ok)
      return fill(problemBox, problemNote(unlessUnknown(refused, reply.problem), reply.problem, send))
    announce(`The payment is ${isApproval ? 'approved' : 'denied'}.`)
    return reload()
  }
  await send()
}
