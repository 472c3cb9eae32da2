import type { ProgramTexts } from '@gatewright/host/internal/help'
import { HOST_VERSION } from '../product/version.ts'

/** What the help of `gatewright` says beside its commands. */
export const programTexts: ProgramTexts = {
  name: 'npx gatewright',
  version: HOST_VERSION,
  summary: 'Runs and operates a host. The environment names its stores, as for the host. Times are in UTC.',
  sections: {
    'The host': [
      'start',
      'migrate',
      'distribute',
      'operations',
      'jobs',
      'lost-runs',
      'history',
      'backup',
      'restored',
      'aliases',
    ],
    'Accounts and people': ['users', 'accounts', 'kyc', 'audit'],
    'Keys, sessions, requests': [
      'keys',
      'explain',
      'sessions',
      'requests',
      'partner-keys',
      'signing-keys',
      'data-keys',
    ],
    Money: ['ledger', 'payins', 'deposits', 'withdrawals', 'cards', 'authorizations', 'provider-events'],
    Events: ['events', 'webhooks', 'listen'],
    'Your account, at any host': ['login', 'logout', 'my-keys', 'approvals', 'pay', 'requests tail', 'mcp'],
    'This machine': ['explain-token', 'completion'],
  },
}
