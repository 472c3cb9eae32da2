// What encrypting and decrypting a batch of texts costs beside bare WebCrypto, which checks, names and encodes nothing.
import { deepEqual } from 'node:assert/strict'
import { createSecretKey, randomBytes, webcrypto } from 'node:crypto'
import {
  accountCipher,
  type CipherResult,
} from '#packages/reference-host/dist/modules/encryption/account-cipher.js'
import type { AccountKeys } from '#packages/reference-host/dist/modules/encryption/account-keys.js'
import { compare, type Result } from './harness.ts'

const ITEMS = 100
const ACCOUNT = 'acc_5b0b4f9be2b84b6a9d8d6a2f65d3e2aa'
const bytes = randomBytes(32)
const secret = createSecretKey(bytes)
// A warm key: what a batch costs beside its storage call.
const keys: AccountKeys = { find: async () => secret, findOrCreate: async () => secret }
const cipher = accountCipher(keys)
const key = await webcrypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
const additionalData = Buffer.from(`gw-data|${ACCOUNT}|1`)

for (const size of [32, 1024]) {
  const texts = Array.from({ length: ITEMS }, () => randomBytes(size / 2).toString('hex'))
  const bareEncrypt = (text: string): Promise<{ iv: Buffer; data: ArrayBuffer }> => {
    const iv = randomBytes(12)
    const data = webcrypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, Buffer.from(text))
    return data.then(data => ({ iv, data }))
  }
  const encrypted = valuesOf(await cipher.encrypt(ACCOUNT, texts))
  deepEqual(valuesOf(await cipher.decrypt(ACCOUNT, encrypted)), texts)
  const bare = await Promise.all(texts.map(bareEncrypt))
  report(
    await compare(`crypto: encrypt ${ITEMS} texts of ${size} bytes`, {
      ours: { name: 'AccountCipher.encrypt', run: () => cipher.encrypt(ACCOUNT, texts) },
      peers: [{ name: 'bare WebCrypto', run: () => Promise.all(texts.map(bareEncrypt)), minRatio: 1 }],
      operations: 60,
    }),
  )
  report(
    await compare(`crypto: decrypt ${ITEMS} texts of ${size} bytes`, {
      ours: { name: 'AccountCipher.decrypt', run: () => cipher.decrypt(ACCOUNT, encrypted) },
      peers: [
        {
          name: 'bare WebCrypto',
          run: () =>
            Promise.all(
              bare.map(({ iv, data }) =>
                webcrypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, key, data),
              ),
            ),
          minRatio: 1,
        },
      ],
      operations: 60,
    }),
  )
}

/** The values of results. Throws when one is a problem. */
function valuesOf<T>(results: readonly CipherResult<T>[]): T[] {
  return results.map(result => {
    if ('problem' in result) throw new Error(result.problem)
    return result.value
  })
}

/** By CPU, not by elapsed time: WebCrypto works in threads, and other processes of the machine are in the latter. */
function report({ ours, peers: [peer] }: Result): void {
  const perSecond = (micros = 0): string => Math.round((ITEMS * 1e6) / micros).toLocaleString('en')
  console.log(
    `  items per CPU second: ${perSecond(ours.cpuMicros)}, bare WebCrypto ${perSecond(peer?.cpuMicros)}\n`,
  )
}
