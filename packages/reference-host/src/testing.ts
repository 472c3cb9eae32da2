export { cardIssuerContract } from './providers/card-issuer-contract.ts'
export type { CardIssuerUnderTest } from './providers/card-issuer-contract.ts'
export { kycProviderContract, sampleApplication } from './providers/kyc-contract.ts'
export type { KycProviderUnderTest } from './providers/kyc-contract.ts'
export { depositProviderContract, withdrawalProviderContract } from './providers/transfer-contracts.ts'
export type {
  DepositProviderUnderTest,
  WithdrawalProviderUnderTest,
} from './providers/transfer-contracts.ts'
