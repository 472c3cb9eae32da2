import { approvalsPage } from './approvals.ts'
import { auditPage } from './audit/audit.ts'
import { cardsPage } from './money/cards.ts'
import { keysPage } from './keys/keys.ts'
import { notificationsPage } from './notifications.ts'
import { overviewPage } from './overview/overview.ts'
import type { ConsolePage } from './page.ts'
import { payinsPage } from './money/payins.ts'
import { requestsPage } from './requests/requests.ts'
import { sessionsPage } from './sessions.ts'
import { settingsPage } from './settings.ts'
import { transactionsPage } from './money/transactions.ts'

/** Every page of the console, in the order of the navigation. On a phone the first four are in the bar, the others under "More". */
export const PAGES: readonly ConsolePage[] = [
  overviewPage,
  transactionsPage,
  cardsPage,
  keysPage,
  payinsPage,
  approvalsPage,
  requestsPage,
  auditPage,
  sessionsPage,
  notificationsPage,
  settingsPage,
]
