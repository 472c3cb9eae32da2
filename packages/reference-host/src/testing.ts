export { kycProviderContract, sampleApplication } from './providers/kyc-contract.ts'
export type { KycProviderUnderTest } from './providers/kyc-contract.ts'
