import type { HostServices, Module } from '@gatewright/host'
import type { Product } from '../../product/product.ts'
import type { KycRecords } from '../kyc/records.ts'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'
import { agreementOperations } from './operations.ts'

/** What this part of the product works with. */
interface AgreementsServices extends HostServices {
  readonly acceptances: AgreementAcceptances
  readonly kyc: KycRecords
  readonly product: Product
}

/** Agreements that users accept. */
export const agreementsModule: Module<AgreementsServices> = {
  operations: agreementOperations,
}
