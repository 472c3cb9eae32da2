import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { NamedSecret } from '../config/parsers.ts'

/** Secrets that what is stored depends on: losing them makes stored keys and signing keys useless. */
export interface Secrets {
  readonly keyPeppers: readonly NamedSecret[]
  readonly signingKeyEncryptionKey: Uint8Array
}

interface SecretFile {
  readonly keyPepper: NamedSecret
  readonly signingKeyEncryptionKey: string
}

/**
 * The configured secrets, and for those that are missing the ones in `dataDir/secrets.json`, made on the first
 * start and readable by the owner only. The file is on disk before anything is stored that needs it. Call with the folder locked.
 */
export function loadSecrets(config: Config): Secrets {
  const { keyPeppers, signingKeyEncryptionKey, dataDir } = config
  if (keyPeppers && signingKeyEncryptionKey) return { keyPeppers, signingKeyEncryptionKey }
  const path = join(dataDir, 'secrets.json')
  const file = readSecrets(path) ?? writeSecrets(path)
  return {
    keyPeppers: keyPeppers ?? [file.keyPepper],
    signingKeyEncryptionKey:
      signingKeyEncryptionKey ?? Buffer.from(file.signingKeyEncryptionKey, 'base64url'),
  }
}

function readSecrets(path: string): SecretFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SecretFile
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read as JSON: restore it from a backup, stored keys depend on it`, {
      cause: error,
    })
  }
}

function writeSecrets(path: string): SecretFile {
  const secret = (): string => randomBytes(32).toString('base64url')
  const file: SecretFile = {
    keyPepper: { id: 'sandbox-1', secret: secret() },
    signingKeyEncryptionKey: secret(),
  }
  const handle = openSync(`${path}.new`, 'w', 0o600)
  writeSync(handle, `${JSON.stringify(file, null, 2)}\n`)
  fsyncSync(handle)
  closeSync(handle)
  renameSync(`${path}.new`, path)
  return file
}
