// Signing keys as a store holds them: encrypted, and checked when they are read.
import { createCipheriv, randomBytes } from 'node:crypto'
import type { SigningKeyStorage } from '@gatewright/session-issuer'
import type { SigningKey } from '#packages/session-issuer/dist/storage/signing-port.js'
import { migrateCredentials, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import t from 'tap'
import { openSqlite } from '../../harness/stores.ts'

const TEXT = 'A'.repeat(43)
const ED = { kty: 'OKP', crv: 'Ed25519', x: TEXT, d: TEXT }
const EC = { kty: 'EC', crv: 'P-256', x: TEXT, y: TEXT, d: TEXT }
const KEY = {
  kid: 'k',
  algorithm: 'EdDSA',
  privateJwk: ED,
  activatesAt: 0,
  retiresAt: null,
  dropsAt: null,
} as const

const { connections, close } = await openSqlite(1, migrateCredentials)
const db = connections[0]!
t.teardown(close)
const encryptionKey = randomBytes(32)
let count = 0
/** Signing keys of an issuer of their own. */
const open = (): { storage: SigningKeyStorage; issuer: string } => {
  const issuer = `issuer${count++}`
  return { storage: sqliteCredentials(db, { encryptionKey, issuer }).signingKeys, issuer }
}

t.test('reads keys of either algorithm with every state of their times', async t => {
  const { storage } = open()
  const keys = [
    KEY,
    { ...KEY, retiresAt: 1, dropsAt: 2 },
    { ...KEY, algorithm: 'ES256', privateJwk: EC },
  ] as const
  t.equal(await storage.replace(0, keys as readonly SigningKey[]), true)
  t.same(await storage.load(), { revision: 1, keys })
  t.same((await storage.load()).keys.length, 3)
})

t.test('throws a fault for stored keys of which one is no signing key', async t => {
  const es = { ...KEY, algorithm: 'ES256' }
  const wrong: readonly unknown[] = [
    null,
    { ...KEY, kid: '' },
    { ...KEY, kid: 7 },
    { ...KEY, activatesAt: null },
    { ...KEY, activatesAt: 'x', retiresAt: 1 },
    { ...KEY, retiresAt: 'x' },
    { ...KEY, dropsAt: 1.5 },
    { ...KEY, algorithm: 'ES256' },
    { ...KEY, privateJwk: EC },
    { ...KEY, privateJwk: { ...ED, d: '' } },
    { ...KEY, privateJwk: { ...ED, x: undefined } },
    { ...KEY, privateJwk: { ...ED, crv: 'X25519' } },
    { ...KEY, privateJwk: { ...ED, kty: 'EC' } },
    { ...es, privateJwk: { ...EC, y: undefined } },
    { ...es, privateJwk: { ...EC, crv: 'P-384' } },
    { ...es, privateJwk: { ...EC, kty: 'oct' } },
    { ...es, privateJwk: { ...EC, kty: 'oct', crv: 'none' } },
  ]
  for (const entry of wrong) {
    const { storage } = open()
    await storage.replace(0, [KEY, entry as never])
    await t.rejects(storage.load(), { name: 'Fault', code: 'ERR_STORE_REPLY' }, JSON.stringify(entry))
  }
  const { storage } = open()
  await storage.replace(0, KEY as never)
  await t.rejects(storage.load(), { code: 'ERR_STORE_REPLY' }, 'no list')
})

/** Encrypts as the store does, with a nonce and a tag of other lengths. */
function encrypted(issuer: string, nonceBytes: number, tagBytes: number): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(issuer))
  const body = Buffer.concat([cipher.update(JSON.stringify([KEY])), cipher.final()])
  return ['v1', ...[nonce, body, cipher.getAuthTag()].map(part => part.toString('base64url'))].join('.')
}

t.test('decrypts a nonce of 96 bits and a tag of 128 bits, and nothing else', async t => {
  const { storage, issuer } = open()
  await storage.replace(0, [])
  const sound = encrypted(issuer, 12, 16)
  const store = (text: string) =>
    db.query('update gw_signing_keys set sealed = $1 where issuer = $2', [text, issuer])
  await store(sound)
  t.same(await storage.load(), { revision: 1, keys: [KEY] })
  const [, nonce, body, tag] = sound.split('.') as [string, string, string, string]
  const changed = (nonce[0] === 'A' ? 'B' : 'A') + nonce.slice(1)
  for (const text of [
    encrypted(issuer, 13, 16),
    encrypted(issuer, 12, 12),
    encrypted('another issuer', 12, 16),
    `v2.${nonce}.${body}.${tag}`,
    `${sound}.${tag}`,
    `v1.${nonce}.${body}`,
    `v1.${changed}.${body}.${tag}`,
    'v1',
    '',
  ]) {
    await store(text)
    await t.rejects(storage.load(), { name: 'Fault', code: 'ERR_KEYS_UNAVAILABLE' }, text)
  }
})

t.test('takes an encryption key of 32 bytes, and no other', async t => {
  for (const wrong of [randomBytes(31), randomBytes(33), 'x'.repeat(32), Array(32).fill(1)]) {
    t.throws(() => sqliteCredentials(db, { encryptionKey: wrong as never }), {
      name: 'TypeError',
      message: 'encryptionKey must be 32 bytes',
    })
  }
})
