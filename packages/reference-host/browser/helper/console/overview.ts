import { button, el } from '../../shared/dom.ts'
import { money } from '../../shared/money.ts'
import { limitsSection } from './caps.ts'
import type { ConsoleContext } from './context.ts'
import type { ConsolePage } from './page.ts'
import { spendSection } from './spend.ts'
import { load, section } from './states.ts'
import { stepsSection } from './steps.ts'
import type { Balance } from './wire.ts'

/** The first page: the balance, the open onboarding steps, the caps of every key, and the spending of 30 days. */
export const overviewPage: ConsolePage = {
  id: 'overview',
  title: 'Overview',
  icon: 'overview',
  render: context => [
    balanceSection(context),
    stepsSection(context),
    limitsSection(context),
    spendSection(context),
  ],
}

function balanceSection(context: ConsoleContext): HTMLElement {
  const body = el('div', { class: 'lines' })
  void load<{ balances: readonly Balance[] }>(body, {
    what: 'your balance',
    read: () => context.call('/balances'),
    show: ({ balances: [balance] }) => [balance && balanceFigures(balance)],
  })
  const all = button('All transactions', () => context.open('transactions'), 'small')
  return section('Balance', [body], all)
}

function balanceFigures({ availableCents, pendingCents, contractsCents }: Balance): HTMLElement {
  const figureOf = (name: string, cents: number, main = false): HTMLElement =>
    el(
      'div',
      { class: main ? 'figure main' : 'figure' },
      el('dt', {}, name),
      el('dd', { class: 'amount' }, money(cents), el('span', { class: 'currency' }, ' USD')),
    )
  return el(
    'dl',
    { class: 'figures' },
    figureOf('Free to spend', availableCents, true),
    figureOf('Promised, not yet paid', pendingCents),
    figureOf('Put aside', contractsCents),
  )
}
