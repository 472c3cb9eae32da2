import { createHash } from 'node:crypto'
import type { Sealer } from '@gatewright/host/internal'
import type { KycApplication } from '../../providers/kyc/port.ts'
import { sealedColumns } from '../../product/sealed-columns.ts'

/** The content of the encrypted column. The digest recognizes the same fields after `nationalId` was removed. */
interface SealedFields {
  readonly digest: string
  readonly application: KycApplication
}

/** The members of an application that its personal data is in. */
interface SealedRow {
  readonly accountId: string
  readonly fields: string | null
}

const PURPOSE = sealedColumns.kycFields.purpose

/** Makes the functions that encrypt and decrypt the personal data of an application, the column `fields`. */
export function sealedFields(sealer: Sealer) {
  const open = ({ accountId, fields }: SealedRow): SealedFields | undefined =>
    fields === null ? undefined : (JSON.parse(sealer.open(PURPOSE, accountId, fields)) as SealedFields)
  const seal = (accountId: string, content: SealedFields): string =>
    sealer.seal(PURPOSE, accountId, JSON.stringify(content))
  /** Returns the encrypted fields of a row without `nationalId`; null if they were erased. */
  const withoutNationalId = (row: SealedRow): string | null => {
    const content = open(row)
    if (!content || content.application.nationalId === null) return row.fields
    const application = { ...content.application, nationalId: null }
    return seal(row.accountId, { ...content, application })
  }
  return { open, seal, withoutNationalId }
}

/** Returns the digest of the fields that were submitted. */
export function digestOf(application: KycApplication): string {
  return createHash('sha256').update(JSON.stringify(application)).digest('base64url')
}
