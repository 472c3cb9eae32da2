import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, nameText } from '@gatewright/host/schemas'
import { type Operation, operation } from '@gatewright/host'
import type { AccountCipher, CipherResult } from './account-cipher.ts'
import { Encrypted, encryptedExample } from './fields.ts'

const id = nameText(1, 120)
const list = <T extends Type.TSchema>(item: T) => Type.Array(item, { minItems: 1, maxItems: 100 })

// The schema leaves the content of an item open: it is checked item by item, so that an invalid one does not fail the others.
const EncryptBody = Type.Object(
  {
    items: list(
      Type.Object(
        {
          id,
          value: Type.Optional(Type.Unknown({ description: 'A text of at most 4096 bytes in UTF-8' })),
        },
        component('ItemToEncrypt', 'A text, under an id that the answer repeats'),
      ),
    ),
  },
  component('EncryptRequest', 'Texts to encrypt'),
)
const DecryptBody = Type.Object(
  {
    items: list(
      Type.Object(
        { id, encrypted: Type.Optional(Type.Unknown({ description: 'An EncryptedText' })) },
        component('ItemToDecrypt', 'An encrypted text, under an id that the answer repeats'),
      ),
    ),
  },
  component('DecryptRequest', 'Texts to decrypt'),
)
const respondedId = Type.String({ description: 'The id of the item in the request' })
const FailedItem = Type.Object(
  {
    id: respondedId,
    ok: Type.Literal(false),
    error: Type.Enum(['undecryptable', 'too_long', 'malformed'], { description: 'Why this item failed' }),
  },
  component('FailedItem', 'An item that failed. The others are not touched by it'),
)
const EncryptedItem = Type.Object(
  { id: respondedId, ok: Type.Literal(true), encrypted: Encrypted },
  component('EncryptedItem', 'An encrypted item'),
)
const DecryptedItem = Type.Object(
  { id: respondedId, ok: Type.Literal(true), value: Type.String({ description: 'The text' }) },
  component('DecryptedItem', 'A decrypted item'),
)
const EncryptResponse = Type.Object(
  { items: Type.Array(Type.Union([EncryptedItem, FailedItem])) },
  component('EncryptedItems', 'The outcome of each item, in the order of the request'),
)
const DecryptResponse = Type.Object(
  { items: Type.Array(Type.Union([DecryptedItem, FailedItem])) },
  component('DecryptedItems', 'The outcome of each item, in the order of the request'),
)
const common = {
  surface: 'user',
  method: 'POST',
  credential: 'session',
  topLevel: true,
} as const

/** `POST /user/v1/crypto/encrypt` and `/decrypt`: encrypts or decrypts up to 100 texts of the account. */
export function cryptoOperations({ cipher }: { readonly cipher: AccountCipher }): Operation[] {
  return [
    operation({
      ...common,
      id: 'crypto.encrypt',
      personOnly: true,
      title: 'Encrypt texts',
      details: 'With the key of the account.',
      paths: ['/user/v1/crypto/encrypt'],
      scopes: ['encryption.write'],
      body: EncryptBody,
      response: EncryptResponse,
      example: {
        body: { items: [{ id: 'note-1', value: 'Remember the milk' }] },
        response: { items: [{ id: 'note-1', ok: true, encrypted: encryptedExample }] },
      },
      async handle({ caller: { session }, body: { items } }) {
        const values = items.map(({ value }) => value)
        const results = await cipher.encrypt(session.accountId, values)
        return allow(itemsResponse(items, results, 'encrypted'))
      },
    }),
    operation({
      ...common,
      id: 'crypto.decrypt',
      personOnly: true,
      title: 'Decrypt texts',
      details: 'Texts that this account encrypted.',
      paths: ['/user/v1/crypto/decrypt'],
      scopes: ['encryption.read'],
      body: DecryptBody,
      response: DecryptResponse,
      example: {
        body: { items: [{ id: 'note-1', encrypted: encryptedExample }] },
        response: { items: [{ id: 'note-1', ok: true, value: 'Remember the milk' }] },
      },
      async handle({ caller: { session }, body: { items } }) {
        const values = items.map(({ encrypted }) => encrypted)
        const results = await cipher.decrypt(session.accountId, values)
        return allow(itemsResponse(items, results, 'value'))
      },
    }),
  ]
}

function itemsResponse(
  items: readonly { readonly id: string }[],
  results: readonly CipherResult<unknown>[],
  member: 'encrypted' | 'value',
) {
  const responded = results.map((result, index) => {
    const { id } = items[index] as { readonly id: string }
    return 'value' in result
      ? { id, ok: true, [member]: result.value }
      : { id, ok: false, error: result.problem }
  })
  const failed = results.filter(result => 'problem' in result).length
  return { data: { items: responded }, summary: `${items.length - failed} items done, ${failed} failed.` }
}
