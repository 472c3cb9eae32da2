import { commandRunner } from '@gatewright/host/cli'
import type { RunCommand } from '@gatewright/host/internal'
import { readConfig } from '../config/config.ts'
import { product } from '../composition/host.ts'
import { HOST_VERSION } from '../product/version.ts'

/**
 * Runs one operator command (`gatewright ARGUMENTS`) on the stores that the environment names. Usage errors, faults
 * and unexpected errors become `problem` with code 1; only an unknown option rejects, with a `TypeError`.
 */
export const runCommand: RunCommand = commandRunner({
  name: 'gatewright',
  version: HOST_VERSION,
  summary: 'Runs and operates a host. The environment names its stores, as for the host. Times are in UTC.',
  sections: {
    'The host': ['start', 'migrate', 'operations', 'jobs', 'lost-runs', 'history', 'aliases'],
    'Accounts and people': ['users', 'accounts', 'kyc', 'audit'],
    'Keys and sessions': ['keys', 'sessions', 'requests', 'partner-keys', 'signing-keys', 'data-keys'],
    Money: ['ledger', 'payins', 'deposits', 'withdrawals', 'cards', 'authorizations'],
    'Your account, at any host': ['login', 'logout', 'my-keys', 'pay'],
    'This machine': ['explain-token', 'completion'],
  },
  product,
  commands: () => import('./commands.ts'),
  readConfig,
})
