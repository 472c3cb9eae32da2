import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'

const v = Type.Literal(1)
const iv = Type.String({
  pattern: '^[A-Za-z0-9_+/-]{16}$',
  description: '12 bytes, base64url. Base64 is read, too',
})
/** Schema of ciphertext and tag, of at most this many characters. */
const ciphertext = (most: number) =>
  Type.String({
    pattern: `^[A-Za-z0-9_+/=-]{22,${most}}$`,
    description: 'Ciphertext and tag, base64url without padding. Base64 with padding is read, too',
  })

/** Schema of an encrypted text of at most 4096 bytes. */
export const Encrypted = Type.Object(
  { v, iv, ct: ciphertext(5484) },
  component('EncryptedText', 'A text encrypted with the key of this account: AES-256-GCM'),
)

/** Schema of an encrypted text of at most 496 bytes, which the host stores in a row. */
export const EncryptedNote = Type.Object(
  { v, iv, ct: ciphertext(684) },
  component(
    'EncryptedNote',
    'A text of at most 496 bytes, encrypted with the key of this account: AES-256-GCM',
  ),
)

/** An encrypted text in examples. */
export const encryptedExample = {
  v: 1 as const,
  iv: 'q83vASNFZ4mrze8B',
  ct: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6',
}
