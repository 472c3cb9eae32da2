import type { Reply } from '../../shared/api.ts'
import { el, fill, type Child } from '../../shared/dom.ts'
import { readHost } from '../../shared/host.ts'
import { announce } from '../../shared/live.ts'
import { utc } from '../../shared/time.ts'
import type { ConsoleContext } from './context.ts'

/** Where people find help; null where there is nothing. */
interface Help {
  readonly support: { readonly email: string | null; readonly url: string | null }
  readonly accountId: string
}

/** The part above every page that says that the account is frozen. */
export interface FrozenBanner {
  /** Empty while the account is not frozen, or while that is not known. */
  readonly element: HTMLElement
  /** Reads whether the account is frozen. */
  read(): Promise<void>
}

/** Makes the part that says that the account is frozen, what that means, and whom to ask. */
export function frozenBanner({ call }: Pick<ConsoleContext, 'call'>): FrozenBanner {
  const element = el('section', { 'aria-label': 'Frozen account' })
  let shown: string | null = null
  return {
    element,
    async read() {
      const reply: Reply<{ user: { frozenAt: string | null } }> = await call('/users')
      if (!reply.ok || reply.data.user.frozenAt === shown) return undefined
      const { frozenAt } = reply.data.user
      shown = frozenAt
      if (frozenAt === null) return fill(element)
      const help: Reply<Help> = await call('/support')
      announce('Your account is frozen: nothing leaves it.')
      return fill(element, note(frozenAt, help.ok ? help.data : undefined))
    },
  }
}

function note(frozenAt: string, help: Help | undefined): HTMLElement {
  return el(
    'div',
    { class: 'note bad' },
    el('p', {}, el('strong', {}, 'Frozen: nothing leaves your account'), ` since ${utc(frozenAt)}.`),
    el(
      'p',
      {},
      'Payments, withdrawals, bills and card payments are refused, and you cannot make keys or cards. You can still see everything, lock cards and revoke keys, and money still arrives.',
    ),
    el('p', {}, ...whom(help)),
  )
}

/** Says who can end the freeze, and where to ask. */
function whom(help: Help | undefined): Child[] {
  const { serviceName } = readHost()
  const { email, url } = help?.support ?? { email: null, url: null }
  return [
    `Only the operator of ${serviceName} can unfreeze it. `,
    email !== null && 'Write to ',
    email !== null && el('a', { href: `mailto:${email}` }, email),
    email !== null && (url === null ? '.' : ', or see '),
    email === null && url !== null && 'See ',
    url !== null && el('a', { href: url, rel: 'noreferrer' }, url),
    url !== null && '.',
    help !== undefined && ' Name your account: ',
    help !== undefined && el('code', { class: 'breaks' }, help.accountId),
  ]
}
