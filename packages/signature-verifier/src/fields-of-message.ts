import { allow, type Verdict } from '@gatewright/kernel'
import { invalidRequest, type ProofDenial } from './codes.ts'
import { isAbsent, validateText, type WalletProof } from './proof.ts'
import type { Template } from './templates/template.ts'

/** The fields that every proof needs and every text contains. */
const STATED = ['address', 'nonce', 'issuedAt', 'expiresAt'] as const

/** Whether a proof has a message and none of the fields that it states: the usual body of SIWE clients. */
export function isOnlyMessage(proof: WalletProof): boolean {
  return (
    typeof proof === 'object' &&
    proof !== null &&
    !isAbsent(proof.message) &&
    STATED.every(field => isAbsent(proof[field]))
  )
}

/**
 * Adds the fields that the message of a proof states. Fields of the proof itself are kept, and must then agree with the
 * message. Denial: `invalid_request` for a message that belongs to no template, or that never expires.
 */
export function withFieldsOfMessage(
  proof: WalletProof,
  templates: readonly Template[],
  service: string,
): Verdict<WalletProof, ProofDenial> {
  const denial = validateText(proof)
  if (denial) return denial
  const message = proof.message as string
  for (const { name, fieldsOf } of templates) {
    const isTried = isAbsent(proof.template) || proof.template === name
    const stated = isTried ? fieldsOf?.(message, service) : undefined
    if (stated === undefined) continue
    if (isAbsent(stated['expiresAt'])) return invalidRequest('expiresAt', 'the message must have an expiry')
    const own = Object.entries(proof).filter(([, value]) => !isAbsent(value))
    return allow({ ...stated, ...Object.fromEntries(own) })
  }
  return invalidRequest('message', 'is of no known template')
}
