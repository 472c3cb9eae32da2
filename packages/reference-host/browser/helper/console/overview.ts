import { el } from '../../shared/dom.ts'
import { limitsSection } from './caps.ts'
import { latestSection } from './latest.ts'
import type { ConsolePage } from './page.ts'
import { spendSection } from './spend.ts'
import { stepsSection } from './steps.ts'
import { tiles } from './tiles.ts'

/** The first page: four figures, the open steps of the set-up, what was spent by day, the tightest limits, and the latest transactions. */
export const overviewPage: ConsolePage = {
  id: 'overview',
  title: 'Overview',
  icon: 'overview',
  render(context) {
    // All parts read the same feed. It is read again, to be as new as the balance: a payment may have been reversed.
    context.transactions.clear()
    return [
      tiles(context),
      stepsSection(context),
      el('div', { class: 'overview-columns' }, spendSection(context), limitsSection(context)),
      latestSection(context),
    ]
  },
}
