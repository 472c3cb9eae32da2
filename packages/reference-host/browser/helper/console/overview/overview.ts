import { el } from '../../../shared/dom.ts'
import { limitsSection } from '../keys/caps.ts'
import { latestSection } from './latest.ts'
import type { ConsolePage } from '../page.ts'
import { spendSection } from './spend.ts'
import { skeleton } from '../states.ts'
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
    const steps = stepsSection(context)
    const waiting = el('div', { class: 'card' }, skeleton('the rest of this page'))
    // What is below the steps is shown when these are known, so that nothing moves.
    const below = el(
      'div',
      { class: 'page-content', hidden: true },
      steps.element,
      el('div', { class: 'overview-columns' }, spendSection(context), limitsSection(context)),
      latestSection(context),
    )
    void steps.loaded.then(() => show(below, waiting))
    return [tiles(context), waiting, below]
  },
}

function show(section: HTMLElement, placeholder: HTMLElement): void {
  placeholder.remove()
  section.hidden = false
}
