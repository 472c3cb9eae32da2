import * as Type from 'typebox/type'
import { component } from '../../schemas/fields.ts'

/** Schema of an encrypted text. */
export const Encrypted = Type.Object(
  {
    v: Type.Literal(1),
    iv: Type.String({
      pattern: '^[A-Za-z0-9_+/-]{16}$',
      description: '12 bytes, base64url. Base64 is read, too',
    }),
    ct: Type.String({
      pattern: '^[A-Za-z0-9_+/=-]{22,5484}$',
      description: 'Ciphertext and tag, base64url without padding. Base64 with padding is read, too',
    }),
  },
  component('EncryptedText', 'A text that only this account opens: AES-256-GCM'),
)

/** An encrypted text in examples. */
export const encryptedExample = {
  v: 1 as const,
  iv: 'q83vASNFZ4mrze8B',
  ct: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6',
}
