import type { Command, StartCommand } from './command.ts'
import { accountCommands } from './commands/accounts.ts'
import { aliasCommands } from './commands/aliases.ts'
import { attentionCommands } from './commands/attention.ts'
import { auditCommands } from './commands/audit.ts'
import { authorizationCommands } from './commands/authorizations.ts'
import { cardCommands } from './commands/cards.ts'
import { credentialCommands } from './commands/credentials.ts'
import { dataKeyCommands } from './commands/data-keys.ts'
import { hostCommands, startCommand } from './commands/host.ts'
import { jobCommands } from './commands/jobs.ts'
import { kycCommands } from './commands/kyc.ts'
import { ledgerCommands } from './commands/ledger.ts'
import { partnerKeyCommands } from './commands/partner-keys.ts'
import { payinCommands } from './commands/payins.ts'
import { explainTokenCommand } from './commands/explain-token.ts'
import { runCommands } from './commands/runs.ts'
import { userCommands } from './commands/users.ts'
import { withdrawalCommands } from './commands/withdrawals.ts'

/** Every operator command, in the order of `gatewright help`. */
export const COMMANDS: readonly (Command | StartCommand)[] = [
  startCommand,
  explainTokenCommand,
  ...hostCommands,
  ...partnerKeyCommands,
  ...accountCommands,
  ...credentialCommands,
  ...userCommands,
  ...auditCommands,
  ...ledgerCommands,
  ...payinCommands,
  ...authorizationCommands,
  ...attentionCommands('deposit'),
  ...withdrawalCommands,
  ...kycCommands,
  ...cardCommands,
  ...jobCommands,
  ...runCommands,
  ...dataKeyCommands,
  ...aliasCommands,
]
