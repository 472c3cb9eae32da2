export { cardIssuerContract } from './card-issuer.ts'
export { depositProviderContract } from './deposit-provider.ts'
export { kycProviderContract } from './kyc-provider.ts'
export { withdrawalProviderContract } from './withdrawal-provider.ts'
