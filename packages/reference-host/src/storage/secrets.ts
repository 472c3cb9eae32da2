import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { NamedSecret } from '../config/parsers.ts'

/** Secrets that protect stored data. Without them stored API keys and signing keys cannot be used. */
export interface Secrets {
  readonly keyPeppers: readonly NamedSecret[]
  readonly signingKeyEncryptionKey: Uint8Array
}

interface SecretFile {
  readonly keyPepper: NamedSecret
  readonly signingKeyEncryptionKey: string
}

/**
 * Returns the configured secrets. Missing ones come from `dataDir/secrets.json`, which the first start
 * creates with access for its owner only. The file is on disk before anything that depends on it is stored.
 * The folder must be locked.
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
