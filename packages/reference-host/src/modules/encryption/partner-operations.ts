import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { type Operation, operation, type HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import type { AccountCipher, CipherProblem, CipherResult } from './account-cipher.ts'
import { Encrypted, encryptedExample } from './fields.ts'

const Plain = Type.String({ pattern: '^[^]*$', description: 'A text of at most 4096 bytes in UTF-8' })
const PlainValue = (title: string, description: string) =>
  Type.Object({ value: Plain }, component(title, description))
const EncryptedValue = (title: string, description: string) =>
  Type.Object({ value: Encrypted }, component(title, description))
const common = { surface: 'partner', method: 'POST', credential: 'session' } as const
const plainExample = { value: 'Remember the milk' }

/** `POST /partner/v1/encryption/encrypt` and `/decrypt`: one text of the session's user. */
export function partnerCryptoOperations({ cipher }: { readonly cipher: AccountCipher }): Operation[] {
  return [
    operation({
      ...common,
      id: 'crypto.encrypt',
      title: 'Encrypt a text',
      details: 'With the key of the user.',
      paths: ['/partner/v1/encryption/encrypt'],
      scopes: ['encryption.write'],
      body: PlainValue('EncryptValueRequest', 'A text to encrypt'),
      response: EncryptedValue('EncryptedValue', 'The encrypted text'),
      example: { body: plainExample, response: { value: encryptedExample } },
      async handle({ caller: { session }, body: { value } }) {
        const [result] = await cipher.encrypt(session.accountId, [value])
        return valueResponse(result as CipherResult<unknown>, 'The text is encrypted.')
      },
    }),
    operation({
      ...common,
      id: 'crypto.decrypt',
      title: 'Decrypt a text of the user',
      paths: ['/partner/v1/encryption/decrypt'],
      scopes: ['encryption.read'],
      body: EncryptedValue('DecryptValueRequest', 'A text to decrypt'),
      response: PlainValue('DecryptedValue', 'The text'),
      example: { body: { value: encryptedExample }, response: plainExample },
      async handle({ caller: { session }, body: { value } }) {
        const [result] = await cipher.decrypt(session.accountId, [value])
        return valueResponse(result as CipherResult<unknown>, 'The text is decrypted.')
      },
    }),
  ]
}

function valueResponse(result: CipherResult<unknown>, summary: string) {
  return 'value' in result ? allow({ data: { value: result.value }, summary }) : denied(result.problem)
}

function denied(problem: CipherProblem): HostDenial {
  const message = {
    undecryptable: 'value was not encrypted for this user, or was changed',
    too_long: 'value is longer than 4096 bytes in UTF-8',
    malformed: 'value must be what encrypt answered',
  }[problem]
  return deny('invalid_request', message, { field: 'value' })
}
