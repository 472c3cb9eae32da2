import { shortened } from '../shared/address.ts'
import { button, el } from '../shared/dom.ts'
import type { RequestNames } from './figures.ts'

/** Which requests the list is limited to, beside the outcome: those of one kind of refusal. */
export interface Only {
  /** Names the kind for people. */
  readonly words: string
  readonly query: Readonly<Record<string, string>>
}

/** Names the account of a row by its wallet, or by its id. It opens all recorded requests of the account. */
export function accountButton(
  { accountId, wallet }: Pick<RequestNames, 'accountId' | 'wallet'>,
  showOnly: (what: Only) => unknown,
): HTMLElement {
  if (accountId === null) return el('span', { class: 'muted' }, 'none')
  const name = shortened(wallet ?? accountId)
  const made = button(
    name,
    () => showOnly({ words: `requests of account ${name}`, query: { account: accountId } }),
    'link mono',
  )
  made.title = wallet === null ? accountId : `${wallet}, ${accountId}`
  return made
}
