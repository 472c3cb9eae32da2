export { readConfig } from './config/config.ts'
export { startHost } from './composition/host.ts'
export { runCommand } from './cli/run-command.ts'

export type { Providers } from './providers/ports.ts'
export type { CardIssuer } from './providers/cards/port.ts'
export type { Rejection } from './providers/reply.ts'
export type { KycProvider, KycReport } from './providers/kyc/port.ts'
export type { WithdrawalProvider, WithdrawalReport } from './providers/withdrawals/port.ts'
